/** Stores a value under a name, as the newest entry. If the map has more than `max` entries, the oldest are removed. */
export function remember<V>(map: Map<string, V>, name: string, value: V, max: number): void {
  map.delete(name);
  map.set(name, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) break;
    map.delete(oldest);
  }
}
