// The app of the end-to-end tests. It imports the package by the names of its exports map, and provides it to `page.evaluate` as globals.
import * as burrow from 'burrowdb';
import workerUrl from 'burrowdb/worker?url';

/** Loads Fauna's original driver. `q` calls a builder by its name. */
async function loadDriver() {
  const { default: driver } = await import('faunadb');
  const q = (name, ...args) => {
    const builder = driver.query[name];
    if (!builder) throw new Error(`The driver has no ${name}.`);
    return builder(...args);
  };
  return { ...driver, q };
}

/** Loaded when a test needs it, as an app would do. */
const loadInspector = () => import('burrowdb/inspector');

/** For exports, imports, and the storage that is left. */
const loadData = () => import('burrowdb/data');

/** For adopting a local database into a hub. */
const loadAdopt = () => import('burrowdb/adopt');

/** For an app whose service worker syncs while its pages are closed. */
const loadBackground = () => import('burrowdb/background');

/** Builds of an app whose schema changes, and the functions that migrate a database. */
const loadBuilds = async () => ({
  ...(await import('burrowdb/schema')),
  ...(await import('./builds.mjs')),
});

const loaders = { loadDriver, loadInspector, loadData, loadAdopt, loadBackground, loadBuilds };
Object.assign(globalThis, { burrow, workerUrl, ...loaders });
