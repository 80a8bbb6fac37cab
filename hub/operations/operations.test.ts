import { access, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { documentKey } from '../../src/codec/key.ts';
import { HEAD, headOf } from '../../src/engine/transactions.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import type { Store } from '../../src/store/port.ts';
import { HUB_ROWS } from '../store/hub-rows.ts';
import { memoryStorage, openTestHub, type TestHub } from '../testing/test-hub.ts';
import { createKey } from './create-key.ts';
import { dumpStore, loadStore } from './dump.ts';
import { OperationFault } from './operation-fault.ts';
import { importLines } from './import-lines.ts';
import { moveStore } from './move.ts';
import { readAllRows } from './stored-rows.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'burrow-operations-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const ignore = (): void => undefined;
const now = () => new Date(0);

const open = (store: Store = createMemoryStore()): Promise<TestHub> =>
  openTestHub({ storage: { ...memoryStorage(), store } });

/** Creates notes with an index, changes one and removes one. */
async function fill({ query }: TestHub, count = 40): Promise<void> {
  await query({ create_collection: { object: { name: 'notes' } } });
  const index = {
    name: 'by_n',
    source: { collection: 'notes' },
    terms: [{ object: { field: ['data', 'n'] } }],
  };
  await query({ create_index: { object: index } });
  for (let id = 1; id <= count; id++) {
    const params = { object: { data: { object: { n: id % 3, text: `\u0000ä😀${id}` } } } };
    await query({ create: { ref: { collection: 'notes' }, id: String(id) }, params });
  }
  await query({
    update: { ref: { collection: 'notes' }, id: '1' },
    params: { object: { data: { object: { n: 1 } } } },
  });
  await query({ delete: { ref: { collection: 'notes' }, id: '2' } });
}

/** A hub with notes, and a dump of its store. */
async function dumped(count?: number) {
  const store = createMemoryStore();
  const hub = await open(store);
  await fill(hub, count);
  const file = join(folder, 'backup.gz');
  const rows = await dumpStore(store, file, { now, onProgress: ignore });
  return { store, hub, file, rows };
}

const linesOf = async (dump: string): Promise<string[]> =>
  gunzipSync(await readFile(dump))
    .toString()
    .split('\n');

const countOf = async ({ query }: TestHub): Promise<unknown> =>
  (await query({ count: { match: { index: 'by_n' }, terms: 1 } })).body.resource;

test('a dump is loaded unchanged, with history, under a new epoch and with the same id key', async () => {
  const { store, hub, file, rows } = await dumped();
  const before = await countOf(hub);
  const target = createMemoryStore();
  expect(await loadStore(target, file, ignore)).toBe(rows);
  const restored = await open(target);
  expect(await countOf(restored)).toBe(before);
  const events = { paginate: { events: { ref: { collection: 'notes' }, id: '2' } } };
  expect((await restored.query(events)).body).toEqual((await hub.query(events)).body);
  expect(restored.hub.epoch).toMatch(/^[0-9a-f]{32}$/);
  expect(restored.hub.epoch).not.toBe(hub.hub.epoch);
  // Ids created by devices remain valid.
  const idKeyIn = async (of: Store) =>
    (await of.read((tx) => tx.fetch([HUB_ROWS.idKey], []))).rows[0]?.value;
  expect(await idKeyIn(store)).toMatch(/^[0-9a-f]{64}$/);
  expect(await idKeyIn(target)).toBe(await idKeyIn(store));
  // After a restore, files are kept for a while even if no document refers to them.
  expect(restored.hub.restoredMs).toBeGreaterThan(Date.now() - 60_000);
  expect(hub.hub.restoredMs).toBe(0);
  // New ids continue after the existing ones.
  expect(
    (await restored.query({ create: { collection: 'notes' }, params: { object: {} } })).status,
  ).toBe(201);
});

test("a dump of a standby without the caller's last write is refused and leaves no file", async () => {
  const store = createMemoryStore();
  const hub = await open(store);
  await fill(hub, 3);
  const file = join(folder, 'backup.gz');
  const options = { now, onProgress: ignore };
  const { rows } = await store.read((tx) => tx.fetch([HEAD], []));
  const lastSeen = headOf(rows[0]);
  const early = dumpStore(store, file, { ...options, lastSeen: lastSeen + 1 });
  await expect(early).rejects.toThrow(`The last write here is from ${lastSeen}, so the one from`);
  expect(await readdir(folder)).toEqual([]);
  expect(await dumpStore(store, file, { ...options, lastSeen })).toBeGreaterThan(3);
});

test('a dump fails if its file cannot be opened while the store is read', async () => {
  const file = join(folder, 'nowhere', 'dump');
  const store = createMemoryStore();
  await fill(await open(store), 3);
  const slow: Store = {
    async read(body, options) {
      // Waits until opening the file has failed, by accessing the same folder several times.
      for (let turn = 0; turn < 10; turn += 1) await access(file).catch(ignore);
      return store.read(body, options);
    },
    write: (body, options) => store.write(body, options),
    close: () => store.close(),
  };
  const dumping = dumpStore(slow, file, { now, onProgress: ignore });
  await expect(dumping).rejects.toThrow('ENOENT');
});

test('a truncated or changed dump is refused, and no hub opens what was loaded of it', async () => {
  const { file } = await dumped();
  const whole = await readFile(file);
  const text = gunzipSync(whole).toString();
  const changed = text.replace('"documents"', '"history"');
  for (const [bytes, why, isBegun] of [
    [whole.subarray(0, whole.length - 100), 'cannot be read to its end', true],
    [gzipSync(text.split('\n').slice(0, -2).join('\n')), 'is incomplete: it holds', true],
    [gzipSync(changed), 'damaged: its rows are not those that were dumped', true],
    [gzipSync('{"format":"other"}\n'), 'not a dump of a hub', false],
    [gzipSync('{"format":"burrow-dump","version":99}\n'), 'has version 99', false],
  ] as const) {
    const target = createMemoryStore();
    await writeFile(file, bytes);
    await expect(loadStore(target, file, ignore)).rejects.toThrow(why);
    if (!isBegun) continue;
    await expect(open(target)).rejects.toThrow('interrupted');
    // Loading again from the start succeeds.
    await writeFile(file, whole);
    expect(await loadStore(target, file, ignore)).toBeGreaterThan(40);
  }
});

test.each([
  ['a line that is cut off', '["documents"', /is damaged: line 4 /],
  ['a row of another form', '["documents",5,[],""]', /is damaged: line 4 /],
  ['a row of an unknown space', '["planets","aa==",[],"x"]', /a newer build wrote the dump/],
  ['a line that is not JSON', 'nothing', /is damaged: line 4 /],
  ['an end of another form', '{"end":5}', /is damaged: line 4 /],
  ['a number in place of a row', '5', /is damaged: line 4 /],
])('load refuses a dump with %s and says why', async (_, line, why) => {
  const { file } = await dumped(3);
  const lines = await linesOf(file);
  await writeFile(file, gzipSync([...lines.slice(0, 3), line, ''].join('\n')));
  const loading = loadStore(createMemoryStore(), file, ignore);
  await expect(loading).rejects.toBeInstanceOf(OperationFault);
  await expect(loadStore(createMemoryStore(), file, ignore)).rejects.toThrow(why);
});

test('a dump preserves Unicode line separators', async () => {
  const store = createMemoryStore();
  const hub = await open(store);
  await hub.query({ create_collection: { object: { name: 'notes' } } });
  const text = 'a\u2028b\u2029c\rd\u0085e';
  await hub.query({
    create: { ref: { collection: 'notes' }, id: '1' },
    params: { object: { data: { object: { text } } } },
  });
  const file = join(folder, 'backup.gz');
  await dumpStore(store, file, { now, onProgress: ignore });
  const target = createMemoryStore();
  await loadStore(target, file, ignore);
  const select = {
    select: ['data', 'text'],
    from: { get: { ref: { collection: 'notes' }, id: '1' } },
  };
  expect((await (await open(target)).query(select)).body.resource).toBe(text);
});

test('a store whose load was interrupted can be neither dumped nor moved', async () => {
  const { file } = await dumped(3);
  const lines = await linesOf(file);
  await writeFile(file, gzipSync(lines.slice(0, -2).join('\n')));
  const target = createMemoryStore();
  await expect(loadStore(target, file, ignore)).rejects.toThrow('incomplete');
  const copy = join(folder, 'copy.gz');
  await expect(dumpStore(target, copy, { now, onProgress: ignore })).rejects.toThrow(
    'was interrupted',
  );
  await expect(access(copy)).rejects.toThrow('ENOENT');
  const moving = moveStore(target, createMemoryStore(), 'elsewhere', ignore);
  await expect(moving).rejects.toThrow('was interrupted');
});

test('only its owner may read a dump, even if it replaces a readable file', async () => {
  const file = join(folder, 'backup.gz');
  for (const name of [file, `${file}.partial`]) await writeFile(name, '', { mode: 0o644 });
  await dumpStore(createMemoryStore(), file, { now, onProgress: ignore });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('large rows are read and loaded a few at a time', async () => {
  const store = createMemoryStore();
  const text = 'x'.repeat(3 * 1024 * 1024);
  const puts = Array.from({ length: 20 }, (_, n) => ({
    space: 'documents' as const,
    row: { key: documentKey(1, 2, BigInt(n)), entries: [], value: `${n} ${text}` },
  }));
  for (const each of puts)
    await store.write(async (tx) => tx.apply({ puts: [each], deletes: [] }), {
      durability: 'strict',
    });
  const values: string[] = [];
  await readAllRows(store, async (rows) => {
    expect(rows.length).toBeLessThan(4);
    for (const { row } of rows) values.push(String(row.value).split(' ', 1)[0] ?? '');
  });
  expect(values.map(Number)).toEqual(puts.map((_, n) => n));
});

test('load refuses a store that holds data', async () => {
  const { store, file } = await dumped(1);
  await expect(loadStore(store, file, ignore)).rejects.toThrow('only an empty store');
});

test('a moved hub is unchanged, and only the new store serves it', async () => {
  const store = createMemoryStore();
  const hub = await open(store);
  await fill(hub);
  const { epoch } = hub.hub;
  const count = await countOf(hub);
  const target = createMemoryStore();
  const moved = await moveStore(store, target, 'elsewhere', ignore);
  expect(moved.sha256).toMatch(/^[0-9a-f]{64}$/);
  const there = await open(target);
  expect(there.hub.epoch).toBe(epoch);
  expect(await countOf(there)).toBe(count);
  await expect(open(store)).rejects.toThrow('The data of this store was moved to elsewhere.');
});

test('a move is refused if a hub writes during it, and the hub continues to be served', async () => {
  const store = createMemoryStore();
  const hub = await open(store);
  await fill(hub, 3);
  const target = createMemoryStore();
  let isWritten = false;
  const written: Store = {
    async read(body, options) {
      // After the copy, and before the source is marked as moved.
      if (!isWritten && (await isCopied(target))) {
        isWritten = true;
        await hub.query({ create: { collection: 'notes' }, params: { object: {} } });
      }
      return target.read(body, options);
    },
    write: (body, options) => target.write(body, options),
    close: () => target.close(),
  };
  await expect(moveStore(store, written, 'elsewhere', ignore)).rejects.toThrow(
    'A hub wrote to the store while it was being copied',
  );
  expect(isWritten).toBe(true);
  expect((await (await open(store)).query(1)).status).toBe(200);
  await expect(open(target)).rejects.toThrow('interrupted');
});

const isCopied = async (store: Store): Promise<boolean> =>
  (await store.read((tx) => tx.fetch([HUB_ROWS.urlKey], []))).rows[0] !== undefined;

test('a move whose last write failed is completed by the next run', async () => {
  const store = createMemoryStore();
  const hub = await open(store);
  await fill(hub, 3);
  const count = await countOf(hub);
  const target = createMemoryStore();
  let isFull = true;
  const full: Store = {
    read: (body, options) => target.read(body, options),
    write: (body, options) =>
      target.write(async (tx) => {
        const made = await body({
          fetch: (...args) => tx.fetch(...args),
          apply(writes) {
            if (isFull && writes.deletes.includes(HUB_ROWS.loading))
              throw new Error('The disk is full.');
            tx.apply(writes);
          },
        });
        return made;
      }, options),
    close: () => target.close(),
  };
  await expect(moveStore(store, full, 'elsewhere', ignore)).rejects.toThrow('full');
  isFull = false;
  await moveStore(store, full, 'elsewhere', ignore);
  expect(await countOf(await open(target))).toBe(count);
  const another = moveStore(store, createMemoryStore(), 'elsewhere', ignore);
  await expect(another).rejects.toThrow('was moved to elsewhere before');
});

test('createKey() creates a key of a database, and with makeDatabases also missing databases of its path', async () => {
  const hub = await open();
  const request = {
    url: hub.url,
    rootSecret: hub.secret,
    role: 'server',
    name: 'app',
    makeDatabases: false,
  };
  await expect(createKey({ ...request, database: 'a/b' })).rejects.toThrow("no database 'a'");
  const secret = await createKey({ ...request, database: 'a/b', makeDatabases: true });
  expect(
    (await hub.query({ create_collection: { object: { name: 'notes' } } }, secret)).status,
  ).toBe(201);
  expect((await hub.query({ exists: { collection: 'notes' } })).body.resource).toBe(false);
  expect(await createKey({ ...request, database: '', role: 'client' })).toMatch(/^fnA/);
  await expect(
    createKey({ ...request, database: '', rootSecret: 'wrong-wrong-wrong-wrong-wrong' }),
  ).rejects.toThrow('unauthorized');
});

async function writeExport(): Promise<void> {
  const schema = [
    '{"create_collection":{"object":{"name":"notes"}}}',
    '{"create_index":{"object":{"name":"by_n","source":{"collection":"notes"},"terms":[{"object":{"field":["data","n"]}}]}}}',
  ];
  const ref = (id: number) => ({
    '@ref': {
      id: String(id),
      collection: { '@ref': { id: 'notes', collection: { '@ref': { id: 'collections' } } } },
    },
  });
  const documents = Array.from({ length: 150 }, (_, i) =>
    JSON.stringify({
      ref: ref(i + 1),
      ts: 1_600_000_000_000_000 + i,
      data: {
        n: i % 3,
        at: { '@ts': '2020-01-01T00:00:00Z' },
        odd: { '@obj': { '@ref': 'no ref' } },
        next: ref(i + 2),
      },
    }).replace('"n":0', '"n":9223372036854775807'),
  );
  documents[70] = '{"no":"document"}';
  documents[71] = 'no json';
  documents[72] = documents[72]?.replace('"73"', '"not a number"') ?? '';
  await writeFile(join(folder, 'schema.jsonl'), `${schema.join('\n')}\n`);
  await writeFile(join(folder, 'notes.jsonl'), `${documents.join('\n')}\n`);
}

test('repeated imports of an export import it once, and rejected lines are reported', async () => {
  await writeExport();
  const hub = await open();
  const said: string[] = [];
  const request = {
    url: hub.url,
    secret: hub.secret,
    folder,
    keepTs: false,
    onProgress: (sentence: string) => void said.push(sentence),
  };
  expect(await importLines({ ...request, dryRun: true })).toEqual({
    imported: 149,
    existing: 0,
    rejected: 3,
  });
  expect((await hub.query({ exists: { collection: 'notes' } })).body.resource).toBe(false);
  expect(await importLines({ ...request, dryRun: false })).toEqual({
    imported: 149,
    existing: 0,
    rejected: 3,
  });
  const report = (await readFile(join(folder, 'import-report.jsonl'), 'utf8')).trim().split('\n');
  expect(report.map((line) => (JSON.parse(line) as { line: number }).line)).toEqual([71, 72, 73]);
  expect(await importLines({ ...request, dryRun: false })).toEqual({
    imported: 0,
    existing: 149,
    rejected: 3,
  });
  // The report contains only the lines of this run.
  expect((await readFile(join(folder, 'import-report.jsonl'), 'utf8')).trim().split('\n')).toEqual(
    report,
  );
  // Another database does not have the documents yet, and the corrected line is tried again.
  const other = await open();
  const to = { ...request, url: other.url, secret: other.secret, dryRun: false };
  const file = join(folder, 'notes.jsonl');
  await writeFile(file, (await readFile(file, 'utf8')).replace('"not a number"', '"73"'));
  expect(await importLines(to)).toEqual({ imported: 150, existing: 0, rejected: 2 });
  const document = await hub.query({ get: { ref: { collection: 'notes' }, id: '2' } });
  expect(document.body.resource).toMatchObject({
    data: { n: 1, at: { '@ts': '2020-01-01T00:00:00Z' }, odd: { '@obj': { '@ref': 'no ref' } } },
  });
  const big = { count: { match: { index: 'by_n' }, terms: 1 } };
  expect((await hub.query(big)).body.resource).toBe(49);
});

test('imported documents keep their times with keepTs', async () => {
  await writeExport();
  const hub = await open();
  await importLines({
    url: hub.url,
    secret: hub.secret,
    folder,
    keepTs: true,
    dryRun: false,
    onProgress: ignore,
  });
  const document = await hub.query({ get: { ref: { collection: 'notes' }, id: '2' } });
  expect(document.body.resource).toMatchObject({ ts: 1_600_000_000_000_001 });
});

const noteLine = (id: string, fields: string): string =>
  `{"ref":{"@ref":{"id":"${id}","collection":{"@ref":{"id":"notes","collection":{"@ref":{"id":"collections"}}}}}},${fields}}`;

async function importing(files: Readonly<Record<string, string | Uint8Array>>) {
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const hub = await open();
  await hub.query({ create_collection: { object: { name: 'notes' } } });
  const said: string[] = [];
  const run = () =>
    importLines({
      url: hub.url,
      secret: hub.secret,
      folder,
      keepTs: false,
      dryRun: false,
      onProgress: (sentence) => void said.push(sentence),
    });
  const dataOf = async (id: string) =>
    (await hub.query({ select: 'data', from: { get: { ref: { collection: 'notes' }, id } } })).body
      .resource;
  return { hub, said, run, dataOf };
}

test('imported documents keep their permissions', async () => {
  const permissions = { read: 'public' };
  const { hub, run } = await importing({
    'notes.jsonl': noteLine('1', `"data":{},"permissions":${JSON.stringify(permissions)}`),
  });
  expect(await run()).toMatchObject({ imported: 1 });
  const document = await hub.query({ get: { ref: { collection: 'notes' }, id: '1' } });
  expect(document.body.resource).toMatchObject({ permissions });
});

test('import reads compressed files and .ndjson of a folder and names the files that it skips', async () => {
  const { said, run, dataOf } = await importing({
    'notes.jsonl': `\ufeff${noteLine('1', '"data":{"text":"a\u2028b"}')}\r\n`,
    'notes.jsonl.gz': gzipSync(noteLine('2', '"data":{"n":2}')),
    'notes.ndjson': noteLine('3', '"data":{"n":3}'),
    'people.csv': 'no,name\n1,Ada\n',
    'people.csv.gz': gzipSync('no,name\n1,Ada\n'),
    'READ.ME': 'of the export',
    '.hidden': '',
  });
  expect(await run()).toEqual({ imported: 3, existing: 0, rejected: 0 });
  expect(await dataOf('1')).toEqual({ text: 'a\u2028b' });
  expect(await dataOf('2')).toEqual({ n: 2 });
  expect(await dataOf('3')).toEqual({ n: 3 });
  expect(said.at(-1)).toBe(
    'Not imported: READ.ME, people.csv, people.csv.gz. From a folder, only .jsonl and .ndjson files are imported, also compressed (.gz). Import a table by itself: burrow import <file> --collection <name>.',
  );
});

test('a folder with tables only is refused with their names', async () => {
  const { run } = await importing({ 'notes.csv': 'a\n1\n' });
  await expect(run()).rejects.toThrow(/There are no \.jsonl files .* Not imported: notes\.csv\./);
});

test('lines that are not UTF-8 are not imported', async () => {
  const { run, dataOf } = await importing({
    'notes.jsonl': Buffer.from(noteLine('1', '"data":{"text":"\xff"}'), 'latin1'),
  });
  await expect(run()).rejects.toThrow('notes.jsonl: The source is not UTF-8 text.');
  expect(await dataOf('1')).toBeUndefined();
});

test('the import report names the place of an error in a line', async () => {
  const nowhere = '{"@ref":{"id":"here","collection":{"@ref":{"id":"databases"}}}}';
  const { run } = await importing({
    'notes.jsonl': [
      noteLine('1', `"data":{"a":[{"b":${nowhere}}]}`),
      noteLine('2', '"data":{"a":[{"b":{"@ts":"noon"}}]}'),
      noteLine('9223372036854775808', '"data":{}'),
      noteLine('4', '"data":{"set":{"@set":{}},"n":4}'),
    ].join('\n'),
  });
  expect(await run()).toEqual({ imported: 1, existing: 0, rejected: 3 });
  const report = await readFile(join(folder, 'import-report.jsonl'), 'utf8');
  expect(
    report
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toMatchObject([
    {
      line: 3,
      code: 'unreadable',
      description: expect.stringContaining('from 0 to 9223372036854775807') as unknown,
    },
    {
      line: 1,
      code: 'validation failed',
      description:
        "document data is not valid. data.a.0.b: The database 'here' does not exist, or the key may not read it: create it before the import.",
    },
    { line: 2, code: 'invalid expression', description: 'data.a.0.b: Invalid time.' },
  ]);
});
