/** Long queries at a hub with threads for them: others are answered in the meantime, over PGlite and over PostgreSQL. */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { platform } from 'node:process';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  makeFolder,
  removeTestHub,
  ROOT_SECRET,
  startHub,
  type HubBody,
  type HubProcess,
} from './testing/hub-process.ts';
import { SYNC_PROTOCOL } from '../src/sync/protocol/messages.ts';
import { pushItem } from './testing/sync-test-hub.ts';
import { metric } from './testing/metric.ts';
import { sharedPostgres } from './testing/hub-stores.ts';
import { prepareFolder } from './testing/prepared-pglite.ts';

const postgres = sharedPostgres();
afterAll(removeTestHub);

const object = (members: object) => ({ object: members });
const variable = (name: string) => ({ var: name });
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

/** From an audit of the hub, where this query blocked it for seconds. */
const containsStr = {
  let: [
    {
      s: {
        reduce: { lambda: ['a', 'x'], expr: { concat: [variable('a'), variable('a')] } },
        initial: 'a',
        collection: numbers(17),
      },
    },
  ],
  in: {
    count: {
      map: { lambda: 'i', expr: { containsstr: variable('s'), search: 'aaaaaaaaab' } },
      collection: numbers(2000),
    },
  },
};

/** Counts an array of 131,072 elements `times` times. */
const counting = (times: number, then: unknown = null) => ({
  let: [
    {
      s: {
        reduce: { lambda: ['a', 'x'], expr: { append: variable('a'), collection: variable('a') } },
        initial: [1],
        collection: numbers(17),
      },
    },
    {
      counts: {
        map: { lambda: 'i', expr: { count: variable('s') } },
        collection: numbers(times),
      },
    },
  ],
  in: then ?? { count: variable('counts') },
});

const create = (id: string, n: unknown = 1) => ({
  create: { ref: { collection: 'notes' }, id },
  params: object({ data: object({ n }) }),
});
const get = (id: string) => ({
  select: ['data', 'n'],
  from: { get: { ref: { collection: 'notes' }, id } },
});

type Ask = (query: unknown) => Promise<{ readonly status: number; readonly body: HubBody }>;

const asWith =
  ({ url }: HubProcess, secret: string): Ask =>
  async (query) => {
    const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(query) });
    return { status: answer.status, body: (await answer.json()) as HubBody };
  };

async function keyOf(hub: HubProcess, role = 'server'): Promise<string> {
  const { body } = await hub.query({ create_key: object({ role }) });
  return (body.resource as { readonly secret: string }).secret;
}

describe.each(['PGlite', 'PostgreSQL'])('over %s', (kind) => {
  const isPglite = kind === 'PGlite';
  const begin = async (data = 'memory:'): Promise<HubProcess> => {
    const store = isPglite ? ['--data', data] : ['--postgres', (await postgres()).url];
    const begun = await startHub({ args: [...store, '--metrics', 'open', '--query-threads', '1'] });
    await begun.query({
      or: [
        { exists: { collection: 'notes' } },
        { do: [{ create_collection: object({ name: 'notes' }) }, true] },
      ],
    });
    return begun;
  };
  const end = async (begun: HubProcess): Promise<void> => {
    begun.child.kill('SIGKILL');
    await begun.exited;
  };
  const beginOwn = async (): Promise<HubProcess> => {
    const folder = await makeFolder();
    onTestFinished(() => rm(folder, { recursive: true }));
    const own = await begin(isPglite ? await prepareFolder(folder) : undefined);
    onTestFinished(() => end(own));
    return own;
  };

  /** Shared by all tests, which use documents of their own. Tests that start a hub of their own say why. */
  let hub: HubProcess;
  beforeAll(async () => {
    hub = await begin();
  });
  afterAll(() => end(hub));
  // Everything that a test began must have ended before the next one looks at what is running.
  afterEach(async () => {
    const names = ['long_queries', 'long_queries_waiting'];
    const counts = () => Promise.all(names.map((name) => metric(hub, name)));
    await vi.waitUntil(async () => (await counts()).every((count) => count === 0), {
      timeout: 60_000,
    });
  });

  test.each([
    ['ContainsStr', containsStr],
    ['Count', counting(150)],
  ])('V2: others are answered while %s repeatedly takes long', async (_name, query) => {
    const attacker = asWith(hub, await keyOf(hub));
    const innocent = asWith(hub, await keyOf(hub));
    let ended = 0;
    let isOver = false;
    const over = () => isOver;
    const attack = async (): Promise<void> => {
      for (; !over(); ended += 1) await attacker(query);
    };
    const attacking = attack();
    await expect.poll(() => metric(hub, 'long_queries')).toBe(1);
    ended = 0;
    for (let i = 0; i < 20; i += 1) {
      expect((await fetch(`${hub.url}/ping`)).status).toBe(200);
      expect((await innocent({ add: [1, i] })).body.resource).toBe(1 + i);
    }
    const id = String(Date.now());
    expect((await innocent(create(id, 7))).status).toBe(201);
    expect((await innocent(get(id))).body.resource).toBe(7);
    // With a single thread, each of the 42 would have waited for the end of a long query.
    expect(ended).toBeLessThan(21);
    isOver = true;
    await attacking;
  });

  // Needs a hub of its own: queries of earlier tests have waited too.
  test('metrics name the database whose queries wait for their turn', async () => {
    const own = await beginOwn();
    const ask = asWith(own, await keyOf(own));
    // Each takes some milliseconds, so only a few are begun in one turn of the event loop.
    const adds = {
      map: { lambda: 'i', expr: { add: [variable('i'), 1] } },
      collection: numbers(5000),
    };
    const waited = async (): Promise<string> => {
      await Promise.all(numbers(40).map(() => ask({ count: adds })));
      return (await fetch(`${own.url}/metrics`)).text();
    };
    await expect
      .poll(waited, { timeout: 20_000 })
      .toMatch(/burrow_held_back\{limit="turn",who="database \(root\)"\} [1-9]/);
  });

  test('another thread executes a long live query, and repeats it after a commit that changes it', async () => {
    const id = String(Date.now());
    await hub.query(create(id, 1));
    const longText = { map: { lambda: 'i', expr: 'één '.repeat(10) }, collection: numbers(9000) };
    const long = counting(150, [get(id), { count: variable('counts') }, longText]);
    const listening = new AbortController();
    const response = await fetch(`${hub.url}/live/`, {
      method: 'POST',
      signal: listening.signal,
      headers: {
        authorization: `Bearer ${ROOT_SECRET}`,
        'x-faunadb-api-version': '4',
        'x-query-timeout': '30000',
      },
      body: JSON.stringify({ queries: [{ query: JSON.stringify(long) }] }),
    });
    let text = '';
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true });
    })().catch(() => undefined);
    // Without the comments that keep the connection alive.
    const told = (): string[] =>
      text
        .split('\n\n')
        .slice(1, -1)
        .filter((event) => !event.startsWith(':'));
    const answer = (n: number): string => {
      const body = JSON.stringify({
        resource: [n, 150, numbers(9000).map(() => 'één '.repeat(10))],
      });
      const tag = createHash('sha256').update(`200 ${body}`).digest('base64url');
      return `event: answer\ndata: 0 200 ${tag}\ndata: ${body}`;
    };
    await expect.poll(() => told().length).toBe(1);
    await hub.query({
      update: { ref: { collection: 'notes' }, id },
      params: object({ data: object({ n: 2 }) }),
    });
    await expect.poll(() => told().length).toBe(2);
    expect(told()).toEqual([answer(1), answer(2)]);
    listening.abort();
    await reading;
  });

  // Linux only, because elsewhere priorities belong to processes. Needs a hub of its own: the thread must not exist before the
  // first long query.
  test.runIf(platform === 'linux')(
    'only the thread of long queries has a lower priority',
    async () => {
      const own = await beginOwn();
      const ask = asWith(own, await keyOf(own));
      const before = prioritiesOf(own);
      expect(new Set(before).size).toBe(1);
      await ask(containsStr);
      const [normal = 0] = before;
      const lower = prioritiesOf(own).filter((nice) => nice !== normal);
      expect(lower).toEqual([Math.min(19, normal + 10)]);
    },
  );

  test('a long write commits once; the next query and a stream see it', async () => {
    const ask = asWith(hub, await keyOf(hub));
    const id = String(Date.now());
    await ask(create(id, 0));
    const stream = await openStream(hub, { ref: { collection: 'notes' }, id });
    const before = await ask(get(id));
    const long = await ask(
      counting(150, {
        update: { ref: { collection: 'notes' }, id },
        params: object({ data: object({ n: { add: [get(id), { count: variable('counts') }] } }) }),
      }),
    );
    expect(before.body.resource).toBe(0);
    expect(long.status).toBe(200);
    expect((await ask(get(id))).body.resource).toBe(150);
    expect(await stream.next()).toContain('"n":150');
    stream.close();
    const versions = { events: { ref: { collection: 'notes' }, id } };
    const { body } = await ask({ count: { select: 'data', from: { paginate: versions } } });
    expect(body.resource).toBe(2);
  });

  test('concurrent long and short writes to one document are all kept', async () => {
    const ask = asWith(hub, await keyOf(hub));
    const id = String(Date.now());
    await ask(create(id, 0));
    const add = {
      update: { ref: { collection: 'notes' }, id },
      params: object({ data: object({ n: { add: [get(id), 1] } }) }),
    };
    let isOver = false;
    const over = () => isOver;
    const long = Promise.all(numbers(4).map(() => ask(counting(100, add)))).finally(() => {
      isOver = true;
    });
    let shorts = 0;
    while (!over()) {
      expect((await ask(add)).status).toBe(200);
      shorts += 1;
      const { body } = await ask(get(id));
      expect(body.resource).toBeGreaterThanOrEqual(shorts);
    }
    expect((await long).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await ask(get(id))).body.resource).toBe(shorts + 4);
  });

  // Needs a hub of its own: a thread that has worked before may be done too soon to be seen.
  test('a thread executes a push with a long write, and the write is stored', async () => {
    const own = await beginOwn();
    const { push } = await openDevice(own);
    const ask = asWith(own, await keyOf(own));
    const [before, id, after] = numbers(3).map((n) => String(Date.now() * 10 + n));
    const pushed = push([
      create(`${before}`, 1),
      counting(150, create(`${id}`, 2)),
      create(`${after}`, 3),
    ]);
    await expect.poll(() => metric(own, 'long_queries')).toBe(1);
    expect((await fetch(`${own.url}/ping`)).status).toBe(200);
    expect(await pushed).toEqual([200, [1, 2, 3]]);
    expect((await ask([get(`${before}`), get(`${id}`), get(`${after}`)])).body.resource).toEqual([
      1, 2, 3,
    ]);
    // When it is sent again, nothing is executed again.
    expect(await push([create(`${before}`, 1)], 0)).toEqual([200, [1]]);
  });

  test('a push with a long text is executed, and one that is not JSON is refused', async () => {
    const { push, post } = await openDevice(hub);
    const ask = asWith(hub, await keyOf(hub));
    const id = String(Date.now());
    await push([create(id, { count: numbers(100_000) })]);
    expect((await ask(get(id))).body.resource).toBe(100_000);
    const refused = await post('push', 'x'.repeat(200_000));
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { code: 'bad_message', description: 'The message is not valid JSON.' },
    ]);
  });

  // Needs a hub of its own, which has started no thread yet.
  test('another thread loads and checks a set while other credentials are active', async () => {
    const own = await beginOwn();
    const ask = asWith(own, await keyOf(own));
    const name = `loaded_${Date.now()}`;
    await own.query({ create_collection: object({ name }) });
    for (const id of ['1', '2', '3'])
      await own.query({ create: { ref: { collection: name }, id }, params: object({}) });
    const { device, epoch, post } = await openDevice(own);
    const set = { id: name, query: JSON.stringify({ documents: { collection: name } }) };
    const pull = { refetch: [], settled: 0, maxBytes: 1e6 };
    const exchange = async (path: string, message: object): Promise<Readonly<PulledOrChecked>> =>
      (await post(path, JSON.stringify({ device, epoch, ...message }))).json() as never;
    const load = () => exchange('pull', { ...pull, sets: [{ ...set, loaded: 'nothing' }] });
    const idsIn = ({ puts = [] }: PulledOrChecked) => puts.map(([, id]) => id);
    await expect
      .poll(async () => {
        // Another credential must have been active within the last second.
        await ask('1');
        expect(idsIn(await load())).toEqual(['1', '2', '3']);
        return metric(own, 'query_threads_started');
      })
      .toBe(1);
    const buckets = numbers(256).map(() => '0'.repeat(16));
    await ask('1');
    const { differing = [] } = await exchange('check', { set, buckets });
    expect(differing.flatMap(({ documents }) => documents)).toHaveLength(3);
    await ask('1');
    expect(await exchange('check', { set, buckets: [] })).toMatchObject({ code: 'bad_message' });
  });

  test('a long answer is the same as from one thread', async () => {
    const ask = asWith(hub, await keyOf(hub));
    const text = 'ä€😀"\\'.repeat(30_000);
    const query = { let: [{ a: text }], in: numbers(30).map(() => variable('a')) };
    const { status, body } = await ask(query);
    expect(status).toBe(200);
    expect(body.resource).toEqual(numbers(30).map(() => text));
    const formatted = await fetch(hub.url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ROOT_SECRET}`,
        'x-faunadb-api-version': '4',
        'x-faunadb-formatted-json': 'true',
      },
      body: JSON.stringify(query),
    });
    expect(await formatted.json()).toEqual(body);
  });

  // Needs a hub of its own, for the same reason.
  test('the main thread does not parse a body of 8 MB', async () => {
    const own = await beginOwn();
    const ask = asWith(own, await keyOf(own));
    const large = ask({ count: numbers(1_000_000) });
    await expect.poll(() => metric(own, 'long_queries')).toBe(1);
    expect((await fetch(`${own.url}/ping`)).status).toBe(200);
    expect(await large).toEqual({ status: 200, body: { resource: 1_000_000 } });
  });

  // Needs a hub of its own, because it is stopped.
  test('the hub stops while long queries run', async () => {
    const own = await beginOwn();
    const ask = asWith(own, await keyOf(own));
    const asked = numbers(20)
      .map(() => ask(counting(150)))
      .map((each) => each.then(({ status }) => status).catch(() => 'disconnected'));
    await expect.poll(() => metric(own, 'long_queries_waiting')).toBeGreaterThan(1);
    own.child.kill('SIGTERM');
    for (const ended of await Promise.all(asked))
      expect([200, 503, 'disconnected']).toContain(ended);
    expect(await own.exited).toEqual({ code: 0, signal: null });
  });
});

/** The nice value of each thread of the hub. */
function prioritiesOf({ child }: HubProcess): readonly number[] {
  const tasks = `/proc/${child.pid}/task`;
  return readdirSync(tasks).map((id) => {
    const stat = readFileSync(`${tasks}/${id}/stat`, 'utf8');
    // The second field, a name in parentheses, may contain spaces. The nice value is the 19th field.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
}

interface PulledOrChecked {
  readonly puts?: readonly (readonly [number, string, string])[];
  readonly differing?: readonly { readonly documents: readonly unknown[] }[];
}

/** A device with the root secret. */
async function openDevice(hub: HubProcess) {
  const device = randomBytes(16).toString('hex');
  const post = (path: string, body: string) =>
    fetch(`${hub.url}/sync/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ROOT_SECRET}` },
      body,
    });
  const hello = await post(
    'hello',
    JSON.stringify({ protocol: SYNC_PROTOCOL, device, lastSeq: 0 }),
  );
  const { epoch } = (await hello.json()) as { readonly epoch: string };
  let last = 0;
  const push = async (queries: readonly unknown[], after = last) => {
    const items = queries.map((query, i) => pushItem(after + i + 1, query));
    last = after + queries.length;
    const answer = await post('push', JSON.stringify({ device, epoch, settled: 0, items }));
    const { verdicts } = (await answer.json()) as {
      readonly verdicts: readonly { readonly seq: number }[];
    };
    return [answer.status, verdicts.map(({ seq }) => seq)];
  };
  return { device, epoch, push, post };
}

async function openStream(hub: HubProcess, query: unknown) {
  const abort = new AbortController();
  const headers = { authorization: `Bearer ${await keyOf(hub)}`, 'x-faunadb-api-version': '4' };
  const answer = await fetch(`${hub.url}/stream?fields=document`, {
    method: 'POST',
    headers,
    body: JSON.stringify(query),
    signal: abort.signal,
  });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = async (): Promise<string> => (await reader?.read())?.value ?? '';
  expect(await next()).toContain('"start"');
  return { next, close: () => abort.abort() };
}
