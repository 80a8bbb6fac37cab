/** Messages from page/main.js to the test. */

/** How a page was shown: loaded, or taken from the back/forward cache. */
export type Arrival = 'load' | 'show';

export interface PageError {
  readonly name?: string;
  readonly message: string;
  readonly stack?: string;
  /** The code, if the error is a `QueryError`. */
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

/** Messages are not validated: page and test are from the same checkout. */
export const readPageMessage = (data: Buffer): PageMessage =>
  JSON.parse(data.toString()) as PageMessage;
