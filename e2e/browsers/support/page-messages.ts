/** What page/main.js says to the test. */

/** How a page came to be there: loaded, or shown again as the browser had kept it. */
export type Arrival = 'load' | 'show';

export interface PageError {
  readonly name?: string;
  readonly message: string;
  readonly stack?: string;
  /** Of a `QueryError`. */
  readonly code?: string;
}

export type PageMessage =
  | { readonly type: 'hello'; readonly tab: string; readonly arrival: Arrival }
  | { readonly type: 'tell'; readonly number: number; readonly value: unknown }
  | {
      readonly type: 'answer';
      readonly call: number;
      readonly value?: unknown;
      readonly error?: PageError;
    };

/** Both ends are of one checkout: what one says is what the other reads. */
export const readPageMessage = (data: Buffer): PageMessage =>
  JSON.parse(data.toString()) as PageMessage;
