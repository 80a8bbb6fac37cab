// The first load: a new browser gets all documents of a server. Compared with the same documents, downloaded as one file and stored by
// hand.
import { openBrowser } from '../host/browser.mjs';
import { openSide } from './browsers.mjs';
import { askRoot, startServer } from './servers.mjs';

const BATCH = 1000;
const WORDS = 'heron reed wing north marsh count two seen calm early bank nest wind low'.split(' ');

/** Notes of about 200 bytes each. @param {number} count */
export const firstNotes = (count) =>
  Array.from({ length: count }, (_, i) => ({
    room: `first ${i % 200}`,
    text: `${i} ${Array.from({ length: 24 }, (_, at) => WORDS[(i * 7 + at * (1 + (i % 5))) % WORDS.length]).join(' ')}`,
  }));

/** @typedef {ReturnType<typeof firstNotes>} Notes */

/** @type {Readonly<Record<string, (url: string, notes: Notes) => Promise<void>>>} */
const FILL = {
  burrow: (url, notes) =>
    askRoot(url, {
      foreach: {
        lambda: 'note',
        expr: {
          create: { collection: 'notes' },
          params: { object: { data: { var: 'note' } } },
        },
      },
      collection: notes.map((note) => ({ object: note })),
    }),
  pouchdb: (url, notes) => post(`${url}/db/notes/_bulk_docs`, { docs: notes }),
  rxdb: (url, notes) =>
    post(
      `${url}/push`,
      notes.map((note) => ({
        newDocumentState: { id: crypto.randomUUID(), ...note, _deleted: false },
      })),
    ),
};

/** @param {string} url @param {unknown} body */
async function post(url, body) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url} answered with ${answer.status}.`);
  await answer.text();
}

/**
 * Time to open a copy, and of the baseline in the same browser, in ms.
 * @param {{ contender: string, round: number, pageUrl: string }} slot @param {{ first: number }} sizes
 */
export async function measureFirstLoad({ contender, round, pageUrl }, { first }) {
  const server = await startServer(contender);
  const fill = FILL[contender.split('-')[0] ?? ''];
  if (!fill) throw new Error(`${contender} cannot be filled.`);
  const notes = firstNotes(first);
  for (let at = 0; at < notes.length; at += BATCH)
    await fill(server.url, notes.slice(at, at + BATCH));
  const browser = await openBrowser(`first-load-${contender}-${round}`, { fresh: true });
  try {
    const options = { url: server.url, secret: server.secret, name: contender };
    const loaded = await inPage(browser, pageUrl, (page) =>
      page.evaluate(
        async ([name, given]) => {
          const begun = window.bench.now();
          await window.bench.open(name, given);
          return window.bench.now() - begun;
        },
        /** @type {const} */ ([contender, options]),
      ),
    );
    const byHand = await inPage(browser, pageUrl, (page) =>
      page.evaluate((url) => window.bench.loadByHand(url), '/first-load.json'),
    );
    return { loaded: [loaded], byHand: [byHand] };
  } finally {
    await browser.close();
    browser.forget();
    await server.stop();
  }
}

/**
 * @template T @param {Awaited<ReturnType<typeof openBrowser>>} browser @param {string} url
 * @param {(page: import('playwright').Page) => Promise<T>} work
 */
async function inPage({ context }, url, work) {
  const { page, close } = await openSide(context, url);
  const result = await work(page);
  await close();
  return result;
}
