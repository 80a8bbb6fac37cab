/**
 * Registers the service worker. It caches the app's files for offline use and serves the database's HTTP API under `burrow/`. Only for
 * builds: in development there is no list of files to cache.
 */
export async function registerService(database: string): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const url = new URL('service-worker.js', document.baseURI);
  const path = new URL('burrow/', document.baseURI).pathname;
  url.search = new URLSearchParams({ prefix: path, database, precache: '1' }).toString();
  await navigator.serviceWorker.register(trusted(url));
}

/** The part of the Trusted Types API that is used. TypeScript's DOM types do not include it. */
declare const trustedTypes:
  | {
      createPolicy(
        name: string,
        rules: { readonly createScriptURL: (url: string) => string },
      ): { createScriptURL(url: string): URL };
    }
  | undefined;

/** The demo's Content-Security-Policy (`demo/build/plugins.mjs`) requires Trusted Types: a script URL must come from the policy `demo`. */
const trusted = (url: URL): URL =>
  typeof trustedTypes === 'undefined'
    ? url
    : trustedTypes
        .createPolicy('demo', { createScriptURL: (same) => same })
        .createScriptURL(url.href);
