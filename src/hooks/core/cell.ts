/** A value that changes, and its subscribers. Each framework wraps it in its own kind of value. */
export class Cell<T> {
  private value: T;
  private readonly listeners = new Set<() => void>();

  constructor(value: T) {
    this.value = value;
  }

  readonly get = (): T => this.value;

  /** @returns the way to stop */
  readonly subscribe = (listener: () => void): (() => void) => {
    // Of its own: the same function may listen twice.
    const own = (): void => listener();
    this.listeners.add(own);
    if (this.listeners.size === 1) this.onFirst();
    return () => {
      if (this.listeners.delete(own) && !this.isHeard) this.onLast();
    };
  };

  protected get isHeard(): boolean {
    return this.listeners.size > 0;
  }

  protected set(value: T): void {
    this.value = value;
    for (const listener of this.listeners) listener();
  }

  /** Somebody listens. */
  protected onFirst(): void {}

  /** Nobody listens any more. */
  protected onLast(): void {}
}
