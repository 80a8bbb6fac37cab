// The app of the end-to-end tests: the package as published, by the names of its exports map, at hand for `page.evaluate`.
import * as burrow from 'burrowdb';
import workerUrl from 'burrowdb/worker?url';

/** The original driver; `q` calls a builder by its name. */
async function loadDriver() {
  const { default: driver } = await import('faunadb');
  const q = (name, ...args) => {
    const builder = driver.query[name];
    if (!builder) throw new Error(`The driver has no ${name}.`);
    return builder(...args);
  };
  return { ...driver, q };
}

/** Loaded when a test asks for it, as an app would. */
const loadInspector = () => import('burrowdb/inspector');

/** What an app loads for exports, imports and the room that is left. */
const loadData = () => import('burrowdb/data');

/** What an app loads when a database that lived alone is joined to a hub. */
const loadAdopt = () => import('burrowdb/adopt');

/** What an app loads whose service worker syncs while its pages are closed. */
const loadBackground = () => import('burrowdb/background');

/** Builds of an app whose schema moves on, and what brings a database to it. */
const loadBuilds = async () => ({
  ...(await import('burrowdb/schema')),
  ...(await import('./builds.mjs')),
});

const loaders = { loadDriver, loadInspector, loadData, loadAdopt, loadBackground, loadBuilds };
Object.assign(globalThis, { burrow, workerUrl, ...loaders });
