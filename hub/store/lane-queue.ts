/** Runs one task at a time in each lane; a task of several lanes waits for all of them. */
export class LaneQueue<Lane> {
  private readonly lasts = new Map<Lane, Promise<unknown>>();

  async run<T>(lanes: readonly Lane[], task: () => Promise<T>): Promise<T> {
    const before = lanes.map((lane) => this.lasts.get(lane) ?? Promise.resolve());
    const result = Promise.all(before).then(task);
    // A task that fails does not stop those behind it. And its result may hold all that was read for it.
    const forgotten = (): void => undefined;
    const settled = result.then(forgotten, forgotten);
    for (const lane of lanes) this.lasts.set(lane, settled);
    return result;
  }
}
