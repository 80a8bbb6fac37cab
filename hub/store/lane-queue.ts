/** Lets one at a time have each lane; who asks for several gets them together. */
export class TurnQueue<Lane> {
  private readonly lasts = new Map<Lane, Promise<unknown>>();

  async run<T>(lanes: readonly Lane[], task: () => Promise<T>): Promise<T> {
    const before = lanes.map((lane) => this.lasts.get(lane) ?? Promise.resolve());
    const result = Promise.all(before).then(task);
    // A task that fails keeps nobody from his turn.
    const settled = result.catch(() => undefined);
    for (const lane of lanes) this.lasts.set(lane, settled);
    return result;
  }
}
