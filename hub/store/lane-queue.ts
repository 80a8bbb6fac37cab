/** Runs one task at a time in each lane. A task that needs several lanes waits for all of them. */
export class LaneQueue<Lane> {
  private readonly lasts = new Map<Lane, Promise<unknown>>();

  async run<T>(lanes: readonly Lane[], task: () => Promise<T>): Promise<T> {
    const before = lanes.map((lane) => this.lasts.get(lane) ?? Promise.resolve());
    const result = Promise.all(before).then(task);
    // A failed task does not stop those behind it. The result is dropped here, because the queue would otherwise keep it in
    // memory.
    const forgotten = (): void => undefined;
    const settled = result.then(forgotten, forgotten);
    for (const lane of lanes) this.lasts.set(lane, settled);
    return result;
  }
}
