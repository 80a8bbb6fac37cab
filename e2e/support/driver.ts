/** The parts of Fauna's original driver that tests use; the driver's own types lack some of them. */
type Builder = (...args: readonly unknown[]) => unknown;

export interface Driver {
  readonly Client: new (options: object) => DriverClient;
  readonly query: Readonly<Record<string, Builder>>;
  readonly values: Readonly<Record<string, new (...args: never[]) => unknown>>;
}
/** The driver as it is loaded in a page. */
interface LoadedDriver extends Driver {
  /** Calls a builder by its name. */
  readonly q: (name: string, ...args: readonly unknown[]) => unknown;
}
export interface DriverClient {
  query(expression: unknown, options?: object): Promise<Record<string, unknown>>;
  queryWithMetrics(expression: unknown): Promise<{
    readonly value: unknown;
    readonly metrics: Readonly<Record<string, number>>;
  }>;
  paginate(set: unknown, options?: object): DriverPages;
  ping(scope?: string, timeout?: number): Promise<unknown>;
  getLastTxnTime(): number;
  close(options?: { readonly force: boolean }): Promise<unknown>;
  readonly stream: ((expression: unknown, options?: object) => DriverStream) & {
    document(expression: unknown, options?: object): DriverStream;
  };
}
interface DriverPages {
  each(use: (page: unknown[]) => void): Promise<void>;
  eachReverse(use: (page: unknown[]) => void): Promise<void>;
  nextPage(): Promise<unknown[]>;
  previousPage(): Promise<unknown[]>;
  map(lambda: unknown): DriverPages;
  filter(lambda: unknown): DriverPages;
}
export interface DriverStream {
  on(type: string, listener: (event: never, whole: never) => void): DriverStream;
  start(): DriverStream;
  close(): void;
}
/** Argument of the driver's observer. */
export interface DriverResult {
  readonly statusCode: number;
  readonly responseHeaders: Readonly<Record<string, string>>;
}

declare global {
  var loadDriver: () => Promise<LoadedDriver>;
}
