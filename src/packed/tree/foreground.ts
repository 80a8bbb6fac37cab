/** Whether somebody waits for an answer: whoever has time lets them go first. */
export class Foreground {
  private count = 0;
  private waiting: (() => void)[] = [];

  begin(): void {
    this.count += 1;
  }

  end(): void {
    this.count -= 1;
    if (this.count > 0) return;
    const { waiting } = this;
    this.waiting = [];
    for (const goOn of waiting) goOn();
  }

  /** Resolves when nobody waits. */
  async whenIdle(): Promise<void> {
    while (this.count > 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}
