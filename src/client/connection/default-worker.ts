/** The worker that is started when the app gives none: the file beside the page's own in the package. */

/** The part of Trusted Types that is used; TypeScript's DOM does not know them. */
interface TrustedTypes {
  createPolicy(name: string, rules: { readonly createScriptURL: (url: string) => string }): Policy;
}

interface Policy {
  /** Returns an object that `Worker` takes as a URL. */
  createScriptURL(url: string): URL;
}

declare const trustedTypes: TrustedTypes | undefined;

/** Inside `startDefaultWorker` the name is that of a class of its own. */
type BrowserWorker = Worker;

let policy: Policy | undefined;

/**
 * The URL as pages with `require-trusted-types-for 'script'` want it: made by the policy `burrow`. It is made once: a second
 * policy of its name is refused.
 */
function trustedUrl(url: URL): URL {
  if (typeof trustedTypes === 'undefined') return url;
  try {
    policy ??= trustedTypes.createPolicy('burrow', { createScriptURL: (same) => same });
  } catch {
    // The page's `trusted-types` does not name it. Unless the page requires trusted types as well, the URL will do.
    return url;
  }
  return policy.createScriptURL(url.href);
}

export function startDefaultWorker(): BrowserWorker {
  const Native = globalThis.Worker;
  // Of this name, because bundlers look for `new Worker(new URL('literal', import.meta.url))` to find the worker's file.
  class Worker extends Native {
    /** Which file the bundler has made of it, for errors. */
    readonly url: string;

    constructor(url: URL, options: WorkerOptions) {
      super(trustedUrl(url), options);
      this.url = String(url);
    }
  }
  // In the sources the literal resolves to worker/main.ts.
  return new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
}
