/**
 * Sets up the service worker: it keeps the app's files for use without network, and answers the database's HTTP surface at
 * `burrow/`. Only for what is built: there is no list of files to keep in development.
 */
export async function registerService(database: string): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const url = new URL('service-worker.js', document.baseURI);
  const path = new URL('burrow/', document.baseURI).pathname;
  url.search = new URLSearchParams({ prefix: path, database, precache: '1' }).toString();
  await navigator.serviceWorker.register(trusted(url));
}

/** The part of Trusted Types that is used; TypeScript's DOM does not know them. */
declare const trustedTypes:
  | {
      createPolicy(
        name: string,
        rules: { readonly createScriptURL: (url: string) => string },
      ): { createScriptURL(url: string): URL };
    }
  | undefined;

/** The demo's policy (`demo/build/plugins.mjs`) requires trusted types: a URL of a script is made by a policy of its name. */
const trusted = (url: URL): URL =>
  typeof trustedTypes === 'undefined'
    ? url
    : trustedTypes
        .createPolicy('demo', { createScriptURL: (same) => same })
        .createScriptURL(url.href);
