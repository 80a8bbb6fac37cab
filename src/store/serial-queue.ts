/** One at a time, in the order asked. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();

  run<T>(body: () => Promise<T>): Promise<T> {
    const result = this.last.then(body);
    // Not with what the body returned: it may hold all that was read for it.
    const forgotten = (): void => undefined;
    this.last = result.then(forgotten, forgotten);
    return result;
  }

  /** Resolves when all that was asked so far has ended. */
  async whenIdle(): Promise<void> {
    await this.last;
  }
}
