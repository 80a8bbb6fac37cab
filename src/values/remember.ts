/** Keeps a value under a name, as the newest; the oldest are forgotten beyond `max`. */
export function remember<V>(map: Map<string, V>, name: string, value: V, max: number): void {
  map.delete(name);
  map.set(name, value);
  for (const oldest of map.keys()) {
    if (map.size <= max) break;
    map.delete(oldest);
  }
}
