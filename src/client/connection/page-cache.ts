export interface PageCacheOptions {
  /** Called in the last turn before the browser caches the page. It must abort `inView`. */
  readonly onKept: () => void;
  readonly onShown: () => void;
}

/**
 * Whether this page is in the browser's back/forward cache: left, and to be shown again as it was. None of its code runs
 * meanwhile. Outside of pages (workers, Node) there is no such cache.
 */
export class PageCache {
  readonly #options: PageCacheOptions;
  readonly #stopped = new AbortController();
  /** Aborted when the user leaves the page, and replaced when the page is shown again. */
  inView = new AbortController();
  #kept: { readonly shown: Promise<void>; readonly show: () => void } | undefined = undefined;

  constructor(options: PageCacheOptions) {
    this.#options = options;
    const { addEventListener: listen } = globalThis as Partial<Pick<Window, 'addEventListener'>>;
    const on = (type: 'pagehide' | 'pageshow', run: () => void): void =>
      listen?.(type, ({ persisted }) => persisted && run(), this.#stopped);
    on('pagehide', () => this.#keep());
    on('pageshow', () => this.#show());
  }

  get isKept(): boolean {
    return this.#kept !== undefined;
  }

  /** Resolves when the page is shown again; undefined while it is shown. */
  get shown(): Promise<void> | undefined {
    return this.#kept?.shown;
  }

  /** Stops listening. */
  stop(): void {
    this.#stopped.abort();
  }

  #keep(): void {
    if (this.#kept) return;
    let show = (): void => undefined;
    const shown = new Promise<void>((resolve) => (show = resolve));
    this.#kept = { shown, show };
    this.#options.onKept();
  }

  #show(): void {
    const kept = this.#kept;
    if (!kept) return;
    this.#kept = undefined;
    this.inView = new AbortController();
    kept.show();
    this.#options.onShown();
  }
}

/** Whether the error was thrown because the user left the page. */
export const isLeft = (signal: AbortSignal, error: unknown): boolean =>
  signal.aborted && error === signal.reason;
