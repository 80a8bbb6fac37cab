// The app of the end-to-end tests: the package as published, by the names of its exports map, at hand for `page.evaluate`.
import * as burrow from 'burrowdb';
import workerUrl from 'burrowdb/worker?url';
import { store } from './store.js';

/** How the databases of these tests are stored: `BURROW_STORE` of whoever started them. */
const openDatabase = (name, options) => burrow.openDatabase(name, { store, ...options });

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

Object.assign(globalThis, { burrow: { ...burrow, openDatabase }, workerUrl, loadDriver });
