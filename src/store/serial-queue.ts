/** Runs functions one at a time, in the order of the calls. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();

  run<T>(body: () => Promise<T>): Promise<T> {
    const result = this.last.then(body);
    // Does not keep the results: a result may hold on to everything that its body read.
    const forgotten = (): void => undefined;
    this.last = result.then(forgotten, forgotten);
    return result;
  }

  /** Resolves when every function queued so far has ended. */
  async whenIdle(): Promise<void> {
    await this.last;
  }
}
