/**
 * Sets up the service worker: it keeps the app's files for use without network, and answers the database's HTTP surface at
 * `burrow/`. Only for what is built: there is no list of files to keep in development.
 */
export async function registerService(database: string): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const url = new URL('service-worker.js', document.baseURI);
  const path = new URL('burrow/', document.baseURI).pathname;
  url.search = new URLSearchParams({ prefix: path, database, precache: '1' }).toString();
  await navigator.serviceWorker.register(url);
}
