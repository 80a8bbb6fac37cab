/** A flag with callbacks. */
export class Signal {
  private raised = false;
  private readonly waiting = new Set<() => void>();

  get isRaised(): boolean {
    return this.raised;
  }

  raise(): void {
    this.raised = true;
    for (const wake of this.waiting) wake();
    this.waiting.clear();
  }

  lower(): void {
    this.raised = false;
  }

  /** Calls back once, as soon as the signal is raised. Returns a function that cancels the callback. */
  onRaised(wake: () => void): () => void {
    if (this.raised) {
      wake();
      return () => undefined;
    }
    this.waiting.add(wake);
    return () => this.waiting.delete(wake);
  }
}
