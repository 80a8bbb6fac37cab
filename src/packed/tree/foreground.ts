/** Counts running transactions, so that background work can wait until there are none. */
export class Foreground {
  private count = 0;
  private waiting: (() => void)[] = [];
  /** How many transactions have begun so far. */
  begun = 0;

  begin(): void {
    this.count += 1;
    this.begun += 1;
  }

  end(): void {
    this.count -= 1;
    if (this.count > 0) return;
    const { waiting } = this;
    this.waiting = [];
    for (const goOn of waiting) goOn();
  }

  /** Resolves when no transaction is running. */
  async whenIdle(): Promise<void> {
    while (this.count > 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}
