// `npm run bench:crowd [-- --devices 500,1000 --seconds 60 --commits 50 --rooms 20 --postgres <url>]`: one hub with many idle devices while
// other clients write. Each room is a set, and a commit changes the set of the devices in one room.
import { fork, spawn } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import {
  commandOptions,
  ensureNode,
  ensurePackages,
  root,
  runMain,
  say,
} from '../scripts/setup.mjs';

const ROOT_SECRET = 'burrow-root-of-the-crowd-which-is-known';
const PING_MS = 20;
const PATIENCE_MS = 60_000;

const values = commandOptions({
  devices: { type: 'string', default: '500,1000,2000' },
  seconds: { type: 'string', default: '60' },
  commits: { type: 'string', default: '50' },
  rooms: { type: 'string', default: '20' },
  postgres: { type: 'string' },
});

/**
 * In bytes and ms. `held`: memory in use after a garbage collection. Times are since the last call.
 * @typedef {{ held: number; rss: number; cpuMs: number; blockedMs: number; longestRanMs: number }} Usage
 */
/** @typedef {{ url: string; usage: () => Promise<Usage>; stop: () => void }} Hub */

/** @returns {Promise<Hub>} */
function startHub() {
  const store =
    values.postgres === undefined ? ['--data', 'memory:'] : ['--postgres', values.postgres];
  const free = ['rate', 'rate-address'].flatMap((name) => [`--${name}`, '0']);
  const wide = ['sockets', 'sockets-per-address', 'streams', 'streams-per-credential'].flatMap(
    (name) => [`--${name}`, '100000'],
  );
  const child = spawn(
    process.execPath,
    [
      '--expose-gc',
      '--import',
      pathToFileURL(join(root, 'bench/crowd/observed.mjs')).href,
      join(root, 'scripts/hub.mjs'),
      'hub',
      '--port',
      '0',
      ...store,
      ...free,
      ...wide,
      '--query-log',
      'off',
    ],
    {
      env: { ...process.env, BURROW_ROOT_SECRET: ROOT_SECRET },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    },
  );
  /** @returns {Promise<Usage>} */
  const usage = async () => {
    const told = once(child, 'message');
    child.send('usage');
    return (await told)[0];
  };
  const { stdout } = child;
  if (!stdout) throw new Error('The hub has no output.');
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`The hub ended with ${code}.`)));
    createInterface({ input: stdout }).on('line', (line) => {
      const url = /^burrow hub listening on (\S+)$/.exec(line)?.[1];
      if (url !== undefined) resolve({ url, usage, stop: () => child.kill('SIGKILL') });
    });
  });
}

/** @param {string} url @param {unknown} query @returns {Promise<{ resource: any; ts: number }>} */
async function ask(url, query) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${ROOT_SECRET}`, 'x-faunadb-api-version': '4' },
    body: JSON.stringify(query),
  });
  const { resource, errors } = await answer.json();
  if (errors) throw new Error(JSON.stringify(errors));
  return { resource, ts: Number(answer.headers.get('x-txn-time')) };
}

const object = (/** @type {object} */ members) => ({ object: members });
const collection = (/** @type {string} */ name) => ({ collection: name });
const user = (/** @type {number} */ n) => ({ ref: collection('users'), id: String(n + 1) });

/** Creates a user, a token and a set for each room. @param {string} url @param {number} rooms */
async function createTestData(url, rooms) {
  for (const name of ['users', 'notes']) await ask(url, { create_collection: object({ name }) });
  const terms = [object({ field: ['data', 'room'] })];
  await ask(url, { create_index: object({ name: 'by_room', source: collection('notes'), terms }) });
  const privilege = (/** @type {unknown} */ resource) =>
    object({ resource, actions: object({ read: true }) });
  await ask(url, {
    create_role: object({
      name: 'people',
      membership: [object({ resource: collection('users') })],
      privileges: [privilege(collection('notes')), privilege({ index: 'by_room' })],
    }),
  });
  const made = [];
  for (let room = 0; room < rooms; room++) {
    await ask(url, { create: user(room), params: object({}) });
    const token = await ask(url, {
      create: { tokens: null },
      params: object({ instance: user(room) }),
    });
    for (let n = 0; n < 20; n++) await ask(url, note(room, n));
    const set = JSON.stringify({ match: { index: 'by_room' }, terms: room });
    made.push({ token: String(token.resource.secret), set });
  }
  return made;
}

const note = (/** @type {number} */ room, /** @type {number} */ n) => ({
  create: collection('notes'),
  params: object({ data: object({ room, n, text: 'the heron stands in the reeds' }) }),
});

/** @param {number} count */
async function measure(count) {
  const rooms = Number(values.rooms);
  const hub = await startHub();
  const child = fork(join(root, 'bench/crowd/devices.mjs'));
  /** @type {Map<number, { resolve: (value: any) => void; reject: (reason: Error) => void }>} */
  const asked = new Map();
  child.on('message', (/** @type {any} */ { n, answer, failed }) => {
    const call = asked.get(n);
    asked.delete(n);
    if (failed === undefined) call?.resolve(answer);
    else call?.reject(new Error(failed));
  });
  let last = 0;
  /** @param {string} type @param {object} [message] @returns {Promise<any>} */
  const tell = (type, message = {}) =>
    new Promise((resolve, reject) => {
      asked.set(++last, { resolve, reject });
      child.send({ type, n: last, ...message });
    });
  try {
    const made = await createTestData(hub.url, rooms);
    const before = await hub.usage();
    const begunMs = Date.now();
    await tell('open', { url: hub.url, devices: count, rooms: made });
    const openMs = Date.now() - begunMs;
    const idle = await hub.usage();
    const pings = startPings(hub.url);
    const written = await write(hub.url, child, rooms);
    const after = await hub.usage();
    const delaysOfPing = pings.stop();
    const until = Date.now() + PATIENCE_MS;
    let { waiting } = await tell('waiting');
    while (waiting > 0 && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      ({ waiting } = await tell('waiting'));
    }
    const { delays, counts, differing, perRoom } = await tell('results');
    const missing = Object.entries(perRoom).filter(
      ([room, n]) => n !== 20 + (written.byRoom[Number(room)] ?? 0),
    ).length;
    delays.sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
    delaysOfPing.sort((a, b) => a - b);
    const at = (/** @type {number[]} */ all, /** @type {number} */ part) =>
      all[Math.min(all.length - 1, Math.floor(all.length * part))] ?? NaN;
    return {
      devices: count,
      'opened in, s': openMs / 1000,
      'memory of an idle device, kB': (idle.held - before.held) / count / 1024,
      'resident memory of the hub, MB': after.rss / 2 ** 20,
      'commits a second': written.count / written.seconds,
      'commit to last device, p50, ms': at(delays, 0.5),
      'commit to last device, p95, ms': at(delays, 0.95),
      'commit to last device, max, ms': delays.at(-1) ?? NaN,
      'never arrived': waiting,
      'ping meanwhile, p95, ms': at(delaysOfPing, 0.95),
      'ping meanwhile, max, ms': delaysOfPing.at(-1) ?? NaN,
      'longest turn of the hub, ms': after.blockedMs,
      'longest time in which it ran without a turn, ms': after.longestRanMs,
      'CPU of the hub, cores': (after.cpuMs - idle.cpuMs) / (written.seconds * 1000),
      hints: counts.hints,
      'of which brought the change': counts.brought,
      pulls: counts.pulls,
      'rooms whose devices differ, or from a fresh read': differing,
      'rooms with notes missing': missing,
    };
  } finally {
    child.kill('SIGKILL');
    hub.stop();
  }
}

/** @param {string} url */
function startPings(url) {
  /** @type {number[]} */
  const took = [];
  const over = new AbortController();
  const run = async () => {
    while (!over.signal.aborted) {
      const startedMs = performance.now();
      await fetch(`${url}/ping`).then((answer) => answer.text());
      took.push(performance.now() - startedMs);
      await new Promise((resolve) => setTimeout(resolve, PING_MS));
    }
  };
  void run();
  return {
    stop: () => {
      over.abort();
      return took;
    },
  };
}

/**
 * Commits at a fixed rate, without waiting for earlier commits.
 * @param {string} url @param {import('node:child_process').ChildProcess} child @param {number} rooms
 */
async function write(url, child, rooms) {
  const rate = Number(values.commits);
  const total = rate * Number(values.seconds);
  /** @type {Record<number, number>} */
  const byRoom = {};
  const startedMs = performance.now();
  const sent = [];
  for (let n = 0; n < total; n++) {
    const dueMs = startedMs + (n / rate) * 1000;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    const room = n % rooms;
    byRoom[room] = (byRoom[room] ?? 0) + 1;
    sent.push(
      ask(url, note(room, 1000 + n)).then(({ ts }) =>
        child.send({ type: 'commit', room, ts, atMs: Date.now() }),
      ),
    );
  }
  await Promise.all(sent);
  return { count: total, byRoom, seconds: (performance.now() - startedMs) / 1000 };
}

await runMain(async () => {
  ensureNode();
  ensurePackages();
  say(
    `${cpus().length} cores; ${values.rooms} rooms; ${values.commits} commits a second for ${values.seconds} s.`,
  );
  const rows = [];
  for (const count of values.devices.split(',').map(Number)) {
    const row = await measure(count);
    rows.push(row);
    console.log(JSON.stringify(row));
  }
  const names = Object.keys(rows[0] ?? {});
  const shown = (/** @type {unknown} */ value) =>
    Number(value).toFixed(Number(value) < 10 && !Number.isInteger(value) ? 2 : 0);
  console.log(
    names
      .map(
        (name) =>
          `| ${name} | ${rows.map((row) => shown(row[/** @type {keyof typeof row} */ (name)])).join(' | ')} |`,
      )
      .join('\n'),
  );
});
