/**
 * Law 7 in a browser: sends passwords and secrets in every possible way, and searches for them in all that the browser stores or passes on.
 */
import { Buffer } from 'node:buffer';
import { expect, type Page } from '@playwright/test';
import { test } from './support/app-test.ts';
import { loadApp, type BrowserProfile } from './support/browser-profile.ts';
import { allowedIn, Cage, sendAll } from './support/canary.ts';
import type { Asked } from './support/canary-step.ts';
import { rowVersions, type StoredBytes } from '../src/packed/testing/by-hand.ts';

const NAME = 'canary-cage';

/** A message that was observed, and the step during which it was sent. */
interface Passed {
  readonly step: string;
  readonly place: string;
  readonly text: string;
}

declare global {
  var passed: Passed[];
  var step: string;
}

/** Records all messages from the worker, from other tabs and from the service worker. Must run before all other scripts. */
const watchMessages = (page: Page) =>
  page.addInitScript((name) => {
    globalThis.passed = [];
    globalThis.step = 'open';
    const note = (place: string, data: unknown): void => {
      const seen = new Set<unknown>();
      const text = JSON.stringify(data, (_, value: unknown) => {
        if (typeof value !== 'object' || value === null) return value;
        if (seen.has(value)) return undefined;
        seen.add(value);
        if (value instanceof Uint8Array) return new TextDecoder().decode(value);
        return value instanceof MessagePort ? 'port' : value;
      });
      globalThis.passed.push({ step: globalThis.step, place, text: text ?? '' });
    };
    globalThis.Worker = class extends Worker {
      constructor(url: string | URL, options?: WorkerOptions) {
        super(url, options);
        this.addEventListener('message', ({ data }) => note('worker messages', data));
      }
    };
    globalThis.MessageChannel = class extends MessageChannel {
      constructor() {
        super();
        this.port1.addEventListener('message', ({ data }) => note('worker messages', data));
      }
    };
    new BroadcastChannel(`burrow:${name}`).addEventListener('message', ({ data }) =>
      note('tab messages', data),
    );
    navigator.serviceWorker.addEventListener('message', ({ data, ports }) => {
      note('service worker messages', data);
      for (const port of ports) {
        const post = port.postMessage.bind(port) as (message: unknown) => void;
        port.postMessage = (message: unknown) => {
          note('service worker messages', message);
          post(message);
        };
      }
    });
  }, NAME);

/** Sends a request with the page's own `fetch` through the service worker, or with the API. @returns all that the caller can see */
const send = (page: Page, asked: Asked, how: 'db' | 'service worker') =>
  page.evaluate(
    async ({ asked, how }) => {
      const { name, by, secret, query, scheme, path } = asked;
      globalThis.step = name;
      /** The error as an app might print it. */
      const told = (error: unknown): string => {
        const { stack = '', ...members } = error as Error;
        return JSON.stringify([String(error), stack, members]);
      };
      const touch = (): Promise<unknown> => {
        const { q } = burrow;
        const params = { data: { seen: true }, credentials: { password: 'canary-robin5Kt' } };
        return db.client().query(q.Update(q.Ref(q.Collection('users'), '1'), params));
      };
      if (by === 'query') {
        try {
          const wire = new burrow.Expr(JSON.parse(query));
          const { value, metrics } = await db.client({ secret }).queryWithMetrics(wire);
          return { status: 200, text: JSON.stringify({ resource: value, metrics }) };
        } catch (error) {
          const { status = 0 } = error as { status?: number };
          return { status, text: told(error) };
        }
      }
      const route = { post: '/', get: `/?q=${encodeURIComponent(query)}`, stream: '/stream' }[by];
      const headers = {
        'x-faunadb-api-version': '4',
        ...asked.headers,
        authorization: `${scheme} ${scheme === 'Basic' ? btoa(`${secret}:`) : secret}`,
      };
      const init = {
        method: by === 'get' ? 'GET' : 'POST',
        headers,
        body: by === 'get' ? null : query,
      };
      const place = `${how === 'db' ? '' : '/burrow'}${path ?? route}`;
      const answer = await (how === 'db' ? db.fetch(place, init) : fetch(place, init));
      const { status } = answer;
      if (by !== 'stream' || !answer.body) return { status, text: await answer.text() };
      const events = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = String((await events.read()).value);
      await touch();
      text += String((await events.read()).value);
      await events.cancel();
      return { status, text };
    },
    { asked, how },
  );

/** All of IndexedDB: primary keys and rows. Keys of indexes are contained in the rows. */
const rows = (page: Page) =>
  page.evaluate(async () => {
    const settled = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.addEventListener('success', () => resolve(request.result));
        request.addEventListener('error', () => reject(request.error ?? new Error('failed')));
      });
    const base64 = (bytes: Uint8Array): string =>
      btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
    const found: { what: string; number: number; text: string; bytes: string[] }[] = [];
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await settled(indexedDB.open(name));
      for (const store of database.objectStoreNames) {
        const objects = database.transaction(store).objectStore(store);
        const [keys, values] = [
          await settled(objects.getAllKeys()),
          await settled(objects.getAll()),
        ];
        for (const [at, value] of values.entries()) {
          const bytes: string[] = [];
          const text = JSON.stringify([keys[at], value], (_, each: unknown) => {
            if (each instanceof Uint8Array) bytes.push(base64(each));
            return each;
          });
          found.push({ what: store, number: Number(keys[at]), text: `${name} ${text}`, bytes });
        }
      }
      database.close();
    }
    return found;
  });

/**
 * Stores of documents may contain what apps write into documents. In a packed store, the rows decoded from log and blocks tell what is
 * what.
 */
async function lookAtRows(page: Page, cage: Cage): Promise<void> {
  const packed: Record<'commits' | 'blocks', StoredBytes[]> = { commits: [], blocks: [] };
  for (const { what, number, text, bytes } of await rows(page)) {
    const isPacked = what === 'commits' || what === 'blocks';
    const kind = isPacked ? 'documents' : what;
    cage.look('indexeddb', kind, text);
    for (const each of bytes) {
      const held = Buffer.from(each, 'base64');
      cage.look('indexeddb', kind, held);
      if (isPacked) packed[what].push({ number, bytes: held });
    }
  }
  const seen = new Set<string>();
  for (const { space, row } of await rowVersions(packed.commits, packed.blocks)) {
    const kind = space === 'history' ? 'documents' : space;
    cage.look('indexeddb', kind, [row.key, ...row.entries].join(' '));
    cage.look('indexeddb', kind, row.value);
    seen.add(space);
  }
  // Otherwise the search would have looked at nothing.
  expect([...seen]).toEqual(expect.arrayContaining(['documents', 'history', 'meta']));
}

/** All other storage of this origin. */
const storage = (page: Page) =>
  page.evaluate(async () => {
    const files: string[] = [];
    const walk = async (folder: FileSystemDirectoryHandle): Promise<void> => {
      for await (const [name, handle] of folder as unknown as AsyncIterable<
        [string, FileSystemHandle]
      >) {
        if (handle.kind === 'directory') await walk(handle as FileSystemDirectoryHandle);
        else {
          const file = await (handle as FileSystemFileHandle).getFile();
          files.push(`${name} ${await file.text()}`);
        }
      }
    };
    await walk(await navigator.storage.getDirectory());
    const cached: string[] = [];
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const request of await cache.keys()) {
        cached.push(`${name} ${request.url} ${await (await cache.match(request))?.text()}`);
      }
    }
    const web =
      [localStorage, sessionStorage].map((each) => JSON.stringify(Object.entries(each))).join() +
      document.cookie;
    return { files, cached, web };
  });

/** Exports the log of all steps. @returns the file as a download gets it */
const exportLog = (page: Page) =>
  page.evaluate(async () => {
    const time_start = new Date(Date.now() - 3_600_000);
    const time_end = new Date(Date.now() + 3_600_000);
    const { request_id } = await db.logs.request({ time_start, time_end });
    for (;;) {
      const { state, presigned_url: url } = await db.logs.status(request_id);
      if (state === 'Complete' && url !== undefined) {
        const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
        return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
      }
      if (state !== 'Pending' && state !== 'Requested') throw new Error(state);
    }
  });

/** Searches console output and errors of the page. Playwright also reports the console of its workers. */
function watchPage(page: Page, cage: Cage): void {
  page.on('console', (message) => cage.look('console', message.type(), message.text()));
  page.on('pageerror', (error) => cage.look('console', 'error', `${error.message} ${error.stack}`));
}

async function openCage(profile: BrowserProfile, cage: Cage): Promise<Page> {
  const page = await profile.openTab();
  await watchMessages(page);
  watchPage(page, cage);
  await loadApp(page);
  await page.evaluate(async (name) => {
    await navigator.serviceWorker.register('/service-worker.js');
    await navigator.serviceWorker.ready;
    globalThis.db = await burrow.openDatabase(name, { log: { enabled: true } });
  }, NAME);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  return page;
}

for (const [how, name] of [
  ['db', 'db.fetch'],
  ['service worker', 'the service worker'],
] as const) {
  test(`no secret is found anywhere in the browser if ${name} answers HTTP requests (P1)`, async ({
    profile,
  }) => {
    const cage = new Cage();
    const page = await openCage(profile, cage);
    const root = await page.evaluate(() => db.rootSecret);
    cage.add({ name: 'root secret', text: root, mayBeIn: [] });
    // A second tab, so that tabs send messages to each other.
    const beside = await profile.openTab();
    await beside.evaluate(async (name) => {
      globalThis.db = await burrow.openDatabase(name);
    }, NAME);
    await sendAll(cage, (asked) => send(page, asked, how));

    const wrong = await page.evaluate(async (password) => {
      globalThis.step = 'unlock';
      await db.signOut();
      const { q } = burrow;
      const user = q.Match(q.Index('users_by_email'), 'alice@example.org');
      const failures: string[] = [];
      for (const login of [
        { user, password },
        { secret: `fnAE${'canaryheron2Jm'.repeat(3)}`.slice(0, 40) },
      ]) {
        await db.unlock(login).catch((error: unknown) => failures.push(String(error)));
      }
      return failures;
    }, cage.text('wrong password'));
    expect(wrong).toHaveLength(2);
    cage.look('answers', 'unlock', wrong.join('\n'));
    await page.evaluate((secret) => {
      globalThis.step = 'open';
      return db.unlock({ secret });
    }, cage.text('secret of the admin key'));
    const renewed = await page.evaluate(() => db.rootSecret);
    cage.add({ name: 'root secret after unlocking', text: renewed, mayBeIn: [] });

    cage.look('log export', 'file', Buffer.from(await exportLog(page), 'base64'));
    await lookAtRows(page, cage);
    const { files, cached, web } = await storage(page);
    for (const file of files) cage.look('private files', 'file', file);
    cage.look('cache storage', 'all', cached.join('\n'));
    cage.look('web storage', 'all', web);
    // A secret may only appear in the response that must contain it.
    for (const { step, place, text } of await page.evaluate(() => globalThis.passed)) {
      const own = place === 'tab messages' ? [] : allowedIn(step);
      const opened = step === 'open' && place === 'worker messages' ? OPENED : [];
      cage.look(place, step, text, [...own, ...opened]);
    }
    const requested = await page.evaluate(() =>
      performance
        .getEntries()
        .map(({ name }) => name)
        .join('\n'),
    );
    // With plain `fetch`, the caller itself puts a password into the address, so the addresses of requests are not searched.
    cage.look('addresses', 'all', how === 'db' ? requested : page.url());
    await page.evaluate(() => console.log('Something must be said, or nobody listened.'));
    if (how === 'db') cage.visited.add('service worker messages');
    expect(cage.findings).toEqual([]);
    expect(cage.unvisited('browser')).toEqual([]);
  });
}

/** Canaries that the responses to opening and to unlocking with the secret may contain. */
const OPENED = ['root secret', 'root secret after unlocking', 'secret of the admin key'];
