/**
 * Messages between the service worker of an app and the pages that have a database open. The service worker offers each request to pages,
 * with a port for it. A page that has the database open accepts through that port and answers there; other pages do not respond. The
 * request itself is only sent to one page that has accepted, so a write runs once. A page receives offers through `navigator.serviceWorker`
 * (`addEventListener('message', …)`, then `startMessages()`).
 */

/** Version of these messages. A page ignores offers of another version. */
export const SERVICE_PROTOCOL = 1;

/** Sent to a page, together with a port. */
export interface ServiceOffer {
  readonly type: 'burrow-offer';
  readonly protocol: number;
  /** Name of the database; undefined for any open database. */
  readonly database: string | undefined;
}

export interface ServiceRequest {
  readonly method: string;
  /** Path below the prefix, beginning with a slash, and query string. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Origin and prefix, without a slash at the end: URLs of files begin with it. */
  readonly base: string;
}

/** Messages from the service worker, through the port. */
export type ServiceCall =
  /** The page was chosen to answer. */
  | { readonly type: 'request'; readonly request: ServiceRequest }
  /** Another page was chosen. */
  | { readonly type: 'dismiss' }
  /** Asks for the next part of a streamed body. */
  | { readonly type: 'pull' }
  /** The body is no longer read. */
  | { readonly type: 'cancel' };

/** Messages from the page, through the port. */
export type ServiceAnswer =
  | { readonly type: 'accept'; readonly protocol: number }
  | {
      readonly type: 'answer';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** Undefined if the body follows in parts, one for each `pull`. */
      readonly body: string | undefined;
    }
  /** `part` is undefined at the end of the body. */
  | { readonly type: 'part'; readonly part: string | Uint8Array | undefined }
  /** The request failed, or its body cannot be completed. */
  | { readonly type: 'broken'; readonly description: string };
