/** A value that changes, and its subscribers. Each framework's hooks wrap it in that framework's kind of reactive value. */
export class Cell<T> {
  private value: T;
  private readonly listeners = new Set<() => void>();

  constructor(value: T) {
    this.value = value;
  }

  readonly get = (): T => this.value;

  /** @returns a function that ends the subscription */
  readonly subscribe = (listener: () => void): (() => void) => {
    // Wrapped, because the same function may subscribe twice, and a set would store it once.
    const own = (): void => listener();
    this.listeners.add(own);
    if (this.listeners.size === 1) this.onFirst();
    return () => {
      if (this.listeners.delete(own) && !this.hasListeners) this.onLast();
    };
  };

  protected get hasListeners(): boolean {
    return this.listeners.size > 0;
  }

  protected set(value: T): void {
    this.value = value;
    for (const listener of this.listeners) listener();
  }

  /** Called when the first listener subscribes. */
  protected onFirst(): void {}

  /** Called when the last listener has unsubscribed. */
  protected onLast(): void {}
}
