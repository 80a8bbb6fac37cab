export interface PageCacheOptions {
  /** The last turn before the page is kept. */
  readonly onKept: () => void;
  readonly onShown: () => void;
  /** Of what is given up when the page is left. */
  readonly reason: () => Error;
}

/**
 * Whether the browser keeps this page in its back/forward cache: a page that was left, to be shown again as it was. Nothing of it
 * runs meanwhile. Outside of pages nothing is ever kept.
 */
export class PageCache {
  private readonly options: PageCacheOptions;
  private readonly stopped = new AbortController();
  private inView = new AbortController();
  private kept: { readonly shown: Promise<void>; readonly show: () => void } | undefined =
    undefined;

  constructor(options: PageCacheOptions) {
    this.options = options;
    const { addEventListener: listen } = globalThis as Partial<Pick<Window, 'addEventListener'>>;
    const on = (type: 'pagehide' | 'pageshow', run: () => void): void =>
      listen?.(type, ({ persisted }) => persisted && run(), this.stopped);
    on('pagehide', () => this.keep());
    on('pageshow', () => this.show());
  }

  get isKept(): boolean {
    return this.kept !== undefined;
  }

  /** Resolves when the page is shown again; undefined: it is. */
  get shown(): Promise<void> | undefined {
    return this.kept?.shown;
  }

  /** Aborted when the page that is shown now is left. */
  get signal(): AbortSignal {
    return this.inView.signal;
  }

  /** Nothing is heard any more. */
  stop(): void {
    this.stopped.abort();
  }

  private keep(): void {
    if (this.kept) return;
    let show = (): void => undefined;
    const shown = new Promise<void>((resolve) => (show = resolve));
    this.kept = { shown, show };
    this.inView.abort(this.options.reason());
    this.options.onKept();
  }

  private show(): void {
    const { kept } = this;
    if (!kept) return;
    this.kept = undefined;
    this.inView = new AbortController();
    kept.show();
    this.options.onShown();
  }
}

/** Whether it is for this that something was given up. */
export const isLeft = (signal: AbortSignal, error: unknown): boolean =>
  signal.aborted && error === signal.reason;
