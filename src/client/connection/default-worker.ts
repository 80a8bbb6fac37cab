/** Starts the worker if the app passes none: the worker's file lies beside the page's file in the package. */

/** The part of Trusted Types that is used here; TypeScript's DOM types lack them. */
interface TrustedTypes {
  createPolicy(name: string, rules: { readonly createScriptURL: (url: string) => string }): Policy;
}

interface Policy {
  /** Returns an object that `Worker` takes as a URL. */
  createScriptURL(url: string): URL;
}

declare const trustedTypes: TrustedTypes | undefined;

/** The global type `Worker`: inside `startDefaultWorker`, a class of that name shadows it. */
type BrowserWorker = Worker;

let policy: Policy | undefined;

/**
 * Makes the URL acceptable for pages with `require-trusted-types-for 'script'`, by the policy `burrow`. The policy is created once, because
 * browsers refuse a second policy of the same name.
 */
function trustedUrl(url: URL): URL {
  if (typeof trustedTypes === 'undefined') return url;
  try {
    policy ??= trustedTypes.createPolicy('burrow', { createScriptURL: (same) => same });
  } catch {
    // The page's `trusted-types` directive does not list the policy. The plain URL works unless the page also requires trusted types.
    return url;
  }
  return policy.createScriptURL(url.href);
}

export function startDefaultWorker(): BrowserWorker {
  const Native = globalThis.Worker;
  // The class must be named `Worker`: bundlers find the worker's file by the text `new Worker(new URL('literal', import.meta.url))`.
  class Worker extends Native {
    /** URL that the bundler made of the literal, for error messages. */
    readonly url: string;

    constructor(url: URL, options: WorkerOptions) {
      super(trustedUrl(url), options);
      this.url = String(url);
    }
  }
  // In the sources the literal resolves to worker/main.ts.
  return new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
}
