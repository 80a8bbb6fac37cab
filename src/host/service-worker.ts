/**
 * What passes between the service worker of an app and the pages that have a database open. The service worker offers each request
 * to pages, with a port of its own; a page that has the database open accepts through that port and answers there; others stay silent.
 * Only an accepted request is sent, to one page: a write runs once. A page hears offers through `navigator.serviceWorker`
 * (`addEventListener('message', …)`, then `startMessages()`).
 */

/** A page of another build leaves offers alone. */
export const SERVICE_PROTOCOL = 1;

/** To a page, with a port. */
export interface ServiceOffer {
  readonly type: 'burrow-offer';
  readonly protocol: number;
  /** Name of the database; undefined: any that is open. */
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

/** From the service worker, through the port. */
export type ServiceCall =
  /** The page was chosen. */
  | { readonly type: 'request'; readonly request: ServiceRequest }
  /** Another page was. */
  | { readonly type: 'dismiss' }
  /** Asks for the next part of a streamed body. */
  | { readonly type: 'pull' }
  /** Nobody reads the body any more. */
  | { readonly type: 'cancel' };

/** From the page, through the port. */
export type ServiceAnswer =
  | { readonly type: 'accept'; readonly protocol: number }
  | {
      readonly type: 'answer';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** Undefined: parts follow, one for each `pull`. */
      readonly body: string | undefined;
    }
  /** `undefined`: the body is at its end. */
  | { readonly type: 'part'; readonly part: string | Uint8Array | undefined }
  /** The request or its body could not be brought to an end. */
  | { readonly type: 'broken'; readonly description: string };
