/** Work that is begun when the work before it has ended, however that ended. */
export class OneByOne {
  private last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.last.then(work, work);
    this.last = mine;
    // Whoever asked for it hears of its failure.
    mine.catch(() => undefined);
    return mine;
  }
}
