import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createClock, openDatabase, openHub, type TestClock } from '../../in-process/testing.ts';
import { create, doc, EngineWorld, obj, ROOT } from '../engine/testing/engine-world.ts';
import type { Database, Expr } from '../index.ts';
import { q } from '../index.ts';
import type { DataDatabase } from './ask.ts';
import type { DataProgress } from './export.ts';
import { exportDatabase } from './export.ts';
import { importDatabase } from './import.ts';
import { ask, blobOf, dyingAt, fill, linesOfExport, packed } from './testing/kit.ts';

/** A database that is closed at the end of the test. */
async function open(): Promise<Database> {
  const database = await openDatabase();
  onTestFinished(() => database.close());
  return database;
}

test('importDatabase() of an export restores schema, documents, times and answers', async () => {
  const [from, to] = [await open(), await open()];
  await fill(from, { documents: 1200 });
  const seen: DataProgress[] = [];
  const result = await importDatabase(to, await packed(from), {
    onProgress: (progress) => seen.push(progress),
  });
  expect(result).toEqual({
    imported: 1202,
    same: 0,
    kept: 0,
    replaced: 0,
    expired: 0,
    versions: 0,
    omitted: ['credentials'],
  });
  expect(await linesOfExport(to)).toEqual(await linesOfExport(from));
  for (const query of [
    '{"paginate":{"match":{"index":"notes_by_size"}},"size":2000}',
    '{"get":{"match":{"index":"users_by_email"},"terms":"a@b"}}',
    '{"get":{"role":"reader"}}',
  ]) {
    const schemaTimes = /(?<="id":"roles"}}}},"ts":)\d+/;
    const [one, other] = [await ask(from, query), await ask(to, query)];
    expect(other.replace(schemaTimes, '')).toBe(one.replace(schemaTimes, ''));
  }
  expect(seen.at(-1)).toEqual({ phase: 'importing', done: 1202, total: 1202 });
  expect(seen.map(({ phase }) => phase)).toContain('checking');
  expect(await to.verify()).toEqual([]);
});

const GONE = '{"collection":"gone"}';
const NOTES = '{"documents":{"collection":"notes"}}';

test.each([
  ['match', '{"match":{"index":"all_gone"}}'],
  ['match with terms', '{"match":{"index":"all_gone"},"terms":"x"}'],
  ['documents', `{"documents":${GONE}}`],
  ['singleton', `{"singleton":{"ref":${GONE},"id":"1"}}`],
  ['events of a document', `{"events":{"ref":${GONE},"id":"1"}}`],
  ['events of a set', `{"events":{"documents":${GONE}}}`],
  ['join', `{"join":${NOTES},"with":{"index":"all_gone"}}`],
  ['range', '{"range":{"match":{"index":"all_gone"}},"from":1,"to":2}'],
  ['union', `{"union":[${NOTES},{"documents":${GONE}}]}`],
  ['filter', `{"filter":{"lambda":"x","expr":true},"collection":{"documents":${GONE}}}`],
  ['terms', `{"match":{"index":"notes_by_n"},"terms":[[{"documents":${GONE}}]]}`],
])(
  'a set over a deleted collection or index is left out when its document is imported: %s',
  async (_, set) => {
    const [from, to] = [await open(), await open()];
    const queries = [
      '{"do":[{"create_collection":{"object":{"name":"notes"}}},{"create_collection":{"object":{"name":"gone"}}}]}',
      '{"create_index":{"object":{"name":"notes_by_n","source":{"collection":"notes"},"terms":[{"object":{"field":["data","n"]}}]}}}',
      `{"create_index":{"object":{"name":"all_gone","source":${GONE}}}}`,
      `{"create":{"ref":{"collection":"notes"},"id":"1"},"params":{"object":{"data":{"object":{"n":1,"set":${set},"sets":[${set},${NOTES},2],"list":{"object":{"inside":${set}}},"kept":${NOTES}}}}}}`,
      `{"do":[{"delete":{"index":"all_gone"}},{"delete":${GONE}}]}`,
    ];
    for (const query of queries) await ask(from, query);
    const file = await packed(from);
    expect(await importDatabase(to, file)).toMatchObject({ imported: 1 });
    const notes =
      '{"@set":{"documents":{"@ref":{"id":"notes","collection":{"@ref":{"id":"collections"}}}}}}';
    const data = await ask(
      to,
      '{"select":"data","from":{"get":{"ref":{"collection":"notes"},"id":"1"}}}',
    );
    expect(JSON.parse(data)).toEqual({
      resource: { n: 1, sets: [JSON.parse(notes), 2], list: {}, kept: JSON.parse(notes) },
    });
    expect(await importDatabase(to, file)).toMatchObject({ same: 1 });
  },
);

test('exportDatabase() writes no password, hash or secret, and lists what it omits', async () => {
  const from = await open();
  await fill(from, { documents: 1 });
  const { secret } = await from.client().query(q.CreateKey({ role: 'admin' }));
  await from
    .client()
    .query(q.Login(q.Ref(q.Collection('users'), '1'), { password: 'a secret that stays' }));
  const text = await new Response(exportDatabase(from, { gzip: false, history: true })).text();
  expect(text).not.toContain('a secret that stays');
  expect(text).not.toContain(secret);
  expect(text).not.toMatch(/\$2[aby]\$|hashed/);
  expect(JSON.parse(text.slice(0, text.indexOf('\n')))).toMatchObject({
    format: 'burrow-export',
    version: 1,
    omitted: ['keys', 'tokens', 'credentials'],
  });
});

test('writes during an export are not part of it', async () => {
  const from = await open();
  await fill(from, { documents: 600 });
  const before = await linesOfExport(from);
  const reader = exportDatabase(from, { gzip: false }).getReader();
  let text = new TextDecoder().decode((await reader.read()).value);
  await ask(
    from,
    '{"do":[{"delete":{"ref":{"collection":"notes"},"id":"550"}},{"create":{"ref":{"collection":"notes"},"id":"700"},"params":{"object":{}}},{"update":{"ref":{"collection":"notes"},"id":"560"},"params":{"object":{"data":{"object":{"n":0}}}}}]}',
  );
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  expect(text.trimEnd().split('\n').slice(1, -1)).toEqual(before);
});

test('an export over hubs with different clocks is one snapshot, and contains its time', async () => {
  const behind = new EngineWorld();
  const ahead = new EngineWorld(behind.store);
  await behind.ask({ create_collection: obj({ name: 'notes' }) });
  const ids = Array.from({ length: 600 }, (_, i) => i);
  await behind.ask({ do: ids.map((id) => create(doc('notes', id), { n: 0 })) });
  ahead.now = behind.now + 30_000_000;
  const noteTo = (n: number) => ({ update: doc('notes', 599), params: obj({ data: obj({ n }) }) });
  const times = [0];
  let asked = 0;
  const fetch: DataDatabase['fetch'] = async (_, { headers, body }) => {
    const world = asked++ === 0 ? ahead : behind;
    const {
      status,
      body: text,
      txnTime,
    } = await world.engine.query({
      secret: ROOT,
      query: body,
      apiVersion: '4',
      allows: 'read',
      lastSeenTxn: Number(headers['x-last-seen-txn']),
    });
    // After each query, the document that is read last is written again.
    times.push((await behind.answer(noteTo(times.length))).txnTime);
    return new Response(text, { status, headers: { 'x-txn-time': String(txnTime) } });
  };
  const text = await new Response(exportDatabase({ fetch }, { gzip: false })).text();
  const lines = text.trimEnd().split('\n');
  const { at } = JSON.parse(lines[0] ?? '') as { readonly at: string };
  const last = JSON.parse(lines.at(-2) ?? '') as { readonly data: { readonly n: number } };
  expect(asked).toBeGreaterThan(5);
  const n = times.findLastIndex((ts) => ts <= Date.parse(at) * 1000);
  expect(last.data.n).toBe(n);
  const select = { select: ['data', 'n'], from: { get: doc('notes', 599) } };
  expect(await ahead.ask({ at: { time: at }, expr: select })).toBe(n);
});

test.each([
  { when: 'before', documents: 520, history: false },
  { when: 'after', documents: 520, history: false },
  { when: 'before', documents: 2, history: true },
  { when: 'after', documents: 2, history: true },
] as const)(
  'an import interrupted $when any of its writes is completed by another run: $documents documents, history $history',
  async ({ when, documents, history }) => {
    const from = await open();
    await fill(from, { documents });
    await ask(from, '{"delete":{"ref":{"collection":"notes"},"id":"2"}}');
    const file = await packed(from, { history });
    const expected = await linesOfExport(from, { history });
    for (let nth = 1; ; nth++) {
      const to = await open();
      const dying = dyingAt(to, nth, when);
      const died = await importDatabase(dying, file).then(
        () => false,
        (reason: unknown) => String(reason).includes('killed'),
      );
      await importDatabase(to, file);
      expect(await linesOfExport(to, { history })).toEqual(expected);
      if (died) continue;
      expect(dying.writes()).toBeLessThan(nth);
      expect(nth).toBeGreaterThan(8);
      return;
    }
  },
  120_000,
);

test('an export with history contains past versions and deleted documents', async () => {
  const [from, to] = [await open(), await open()];
  const client = from.client();
  await client.query(q.CreateCollection({ name: 'notes' }));
  const ref = q.Ref(q.Collection('notes'), '1');
  const gone = q.Ref(q.Collection('notes'), '2');
  await client.query(q.Create(ref, { data: { n: 1, only: 'first' } }));
  await client.query(q.Create(gone, { data: { n: 1 } }));
  await client.query(q.Replace(ref, { data: { n: 2 } }));
  await client.query(q.Delete(gone));
  await client.query(q.Create(gone, { data: { n: 2 } }));
  await client.query(q.Delete(gone));
  await client.query(q.Delete(ref));
  await client.query(q.Create(ref, { data: { n: 3 } }));
  const file = await packed(from, { history: true });
  expect(await importDatabase(to, file)).toMatchObject({ imported: 1, versions: 7 });
  for (const each of [ref, gone]) {
    const events = q.Paginate(q.Events(each));
    expect(await to.client().query(events)).toEqual(await client.query(events));
  }
  expect(await importDatabase(to, file)).toMatchObject({ imported: 0, same: 1 });
  await to.client().query(q.Create(gone, { data: { n: 9 } }));
  await expect(importDatabase(to, file)).rejects.toMatchObject({
    code: 'clash',
    message: expect.stringContaining(`Document 2 of 'notes'`) as unknown,
  });
  await expect(importDatabase(to, file, { onClash: 'skip' })).rejects.toMatchObject({
    code: 'invalid_option',
  });
});

test('an expired version is left out of an export, but not the other versions of its document', async () => {
  const clock = createClock();
  clock.set('2026-01-01T00:00:00Z');
  const [from, to] = [await openDatabase('from', { clock }), await openDatabase('to', { clock })];
  const client = from.client();
  await client.query(q.CreateCollection({ name: 'sessions' }));
  const kept = q.Ref(q.Collection('sessions'), '1');
  const gone = q.Ref(q.Collection('sessions'), '2');
  const soon = q.Time('2026-01-01T01:00:00Z');
  for (const ref of [kept, gone]) {
    await client.query(q.Create(ref, { data: { n: 1 } }));
    await client.query(q.Update(ref, { data: { n: 2 }, ttl: soon }));
  }
  await client.query(q.Update(kept, { data: { n: 3 }, ttl: q.Time('2027-01-01T00:00:00Z') }));
  await client.query(q.Delete(gone));
  clock.set('2026-01-01T02:00:00Z');
  const file = await packed(from, { history: true });
  expect(await importDatabase(to, file)).toMatchObject({ imported: 1, versions: 3 });
  const numbers = (database: Database, ref: Expr) =>
    database.client().query(
      q.Select(
        'data',
        q.Map(q.Paginate(q.Events(ref)), (event) => q.Select('data', event)),
      ),
    );
  expect(await numbers(to, kept)).toEqual([{ n: 1 }, { n: 3 }]);
  expect(await numbers(to, gone)).toEqual([{ n: 1 }, null]);
  expect(await to.verify()).toEqual([]);
  await from.close();
  await to.close();
});

test('documents written by a clock ahead of the local one get the time of the import', async () => {
  const clocks = { from: createClock(), to: createClock() };
  clocks.from.set('2031-01-01T00:00:00Z');
  clocks.to.set('2026-01-01T00:00:00Z');
  const from = await openDatabase('from', { clock: clocks.from });
  const to = await openDatabase('to', { clock: clocks.to });
  const client = from.client();
  await client.query(q.CreateCollection({ name: 'notes' }));
  await client.query(q.Create(q.Ref(q.Collection('notes'), '1'), { data: { n: 1 } }));
  const withHistory = importDatabase(to, await packed(from, { history: true }));
  expect(await withHistory).toMatchObject({ imported: 1, versions: 0 });
  const note = await to
    .client()
    .query<{ readonly ts: number }>(q.Get(q.Ref(q.Collection('notes'), '1')));
  expect(new Date(note.ts / 1000).toISOString()).toMatch(/^2026-01-01T00:00/);
  expect(await importDatabase(to, await packed(from))).toMatchObject({ imported: 0, same: 1 });

  const other = await openDatabase('other', { clock: clocks.to });
  await client.query(q.Update(q.Ref(q.Collection('notes'), '1'), { data: { n: 2 } }));
  await expect(importDatabase(other, await packed(from, { history: true }))).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringContaining('set the clock, or import without history') as unknown,
  });
  for (const each of [from, to, other]) await each.close();
});

/** Does something once, before the documents are read for the second time. */
const amidDocuments = (database: Database, act: () => Promise<unknown> | void): DataDatabase => {
  let reads = 0;
  return {
    rootSecret: database.rootSecret ?? '',
    fetch: async (input, init) => {
      if (init.body.includes('"documents"') && ++reads === 2) await act();
      return database.fetch(input, init);
    },
  };
};

async function databaseWithSessions(clock: TestClock): Promise<Database> {
  const database = await openDatabase('from', { clock });
  await database.client().query(q.CreateCollection({ name: 'sessions', history_days: 1 }));
  const ids = Array.from({ length: 600 }, (_, i) => String(i));
  await database.client().query(
    q.Foreach(ids, (id) =>
      q.Create(q.Ref(q.Collection('sessions'), id), {
        ttl: q.If(q.Equals(id, '500'), q.Time('2026-01-01T01:00:00Z'), null),
      }),
    ),
  );
  return database;
}

test('a document that expires during an export is left out, and the export succeeds', async () => {
  const clock = createClock();
  clock.set('2026-01-01T00:00:00Z');
  const from = await databaseWithSessions(clock);
  const lines = await linesOfExport(amidDocuments(from, () => clock.advance({ hours: 2 })));
  expect(lines.filter((line) => line.startsWith('{"ref"'))).toHaveLength(599);
  await from.close();
});

test('an export that takes longer than history_days fails with history_gone', async () => {
  const clock = createClock();
  clock.set('2026-01-01T00:00:00Z');
  const from = await databaseWithSessions(clock);
  const slow = amidDocuments(from, () => clock.advance({ days: 2 }));
  const failure: unknown = await linesOfExport(slow).catch((reason: unknown) => reason);
  expect(failure).toMatchObject({ code: 'history_gone' });
  expect(String(failure)).toMatch(/history of 'sessions' no longer reaches .* `history_days`/);
  await from.close();
});

test('an export reads nothing twice and does not count first, so its total is known only at the end', async () => {
  const from = await open();
  await fill(from, { documents: 1200 });
  const asked: string[] = [];
  const fetch: DataDatabase['fetch'] = (input, init) => {
    asked.push(init.body);
    return from.fetch(input, init);
  };
  const seen: DataProgress[] = [];
  const source = { rootSecret: from.rootSecret ?? '', fetch };
  await linesOfExport(source, { onProgress: (progress) => seen.push(progress) });
  expect(asked.filter((query) => query.includes('"count"'))).toEqual([]);
  expect(new Set(asked).size).toBe(asked.length);
  expect(seen[0]).toEqual({ phase: 'exporting', done: 0, total: undefined });
  expect(seen.at(-1)).toEqual({ phase: 'exporting', done: 1202, total: 1202 });
});

test.each([{ onClash: 'Replace' }, { onClash: 'merge' }, { format: 'xml' }])(
  'an unknown value of an option is refused before anything is read: %j',
  async (options) => {
    const [from, to] = [await open(), await open()];
    await fill(from, { documents: 1 });
    const file = await packed(from);
    const before = await linesOfExport(to);
    await expect(importDatabase(to, file, options as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('must be one of') as unknown,
    });
    expect(await linesOfExport(to)).toEqual(before);
  },
);

test('clashes are reported before anything is written; they are refused, skipped or replaced', async () => {
  const [from, to] = [await open(), await open()];
  await fill(from, { documents: 3 });
  await ask(to, '{"create_collection":{"object":{"name":"notes"}}}');
  await ask(
    to,
    '{"create":{"ref":{"collection":"notes"},"id":"2"},"params":{"object":{"data":{"object":{"own":true}}}}}',
  );
  const file = await packed(from);
  const before = await linesOfExport(to);
  await expect(importDatabase(to, file)).rejects.toMatchObject({
    code: 'clash',
    message: expect.stringMatching(
      /^Nothing was imported\. The collection 'notes' already exists, with another definition\. Document 2 of 'notes' \(line \d+\) already exists/,
    ) as unknown,
  });
  expect(await linesOfExport(to)).toEqual(before);
  await expect(importDatabase(to, file.stream())).rejects.toMatchObject({ code: 'clash' });
  await expect(importDatabase(to, file.stream(), { onClash: 'skip' })).rejects.toMatchObject({
    code: 'invalid_option',
  });

  expect(await importDatabase(to, file, { onClash: 'skip' })).toMatchObject({
    imported: 4,
    kept: 1,
  });
  const own = '{"select":["data"],"from":{"get":{"ref":{"collection":"notes"},"id":"2"}}}';
  expect(await ask(to, own)).toContain('"own":true');
  expect(await importDatabase(to, file, { onClash: 'replace' })).toMatchObject({
    imported: 0,
    same: 4,
    replaced: 1,
  });
  expect(await ask(to, own)).toContain('"n":2');
  expect(await importDatabase(to, file)).toMatchObject({ same: 5, imported: 0 });
});

test('documents with other permissions clash', async () => {
  const [from, to] = [await open(), await open()];
  await fill(from, { documents: 1 });
  const file = await packed(from);
  await importDatabase(to, file);
  const user = '{"ref":{"collection":"users"},"id":"1"}';
  const permissions = '{"object":{"read":null,"write":"public"}}';
  await ask(to, `{"update":${user},"params":{"object":{"permissions":${permissions}}}}`);
  await expect(importDatabase(to, file)).rejects.toMatchObject({
    code: 'clash',
    message: expect.stringContaining("Document 1 of 'users'") as unknown,
  });
  expect(await importDatabase(to, file, { onClash: 'replace' })).toMatchObject({ replaced: 1 });
  expect(await ask(to, `{"get":${user}}`)).toContain('"permissions":{"read":"public"}');
});

test('history_days null survives an import', async () => {
  const [from, to] = [await open(), await open()];
  await ask(from, '{"create_collection":{"object":{"name":"notes","history_days":null}}}');
  const file = await packed(from);
  await importDatabase(to, file);
  expect(await linesOfExport(to)).toEqual(await linesOfExport(from));
  // The contents are the same, so there is no clash.
  await importDatabase(to, file);
  await ask(to, '{"update":{"collection":"notes"},"params":{"object":{"history_days":5}}}');
  await importDatabase(to, file, { onClash: 'replace' });
  expect(await linesOfExport(to)).toEqual(await linesOfExport(from));
});

test('the error names the schema object that the database refuses', async () => {
  const [from, to] = [await open(), await open()];
  await fill(from, { documents: 1 });
  const { secret } = await to.client().query(q.CreateKey({ role: 'server' }));
  await expect(importDatabase(to, await packed(from), { secret })).rejects.toMatchObject({
    code: 'refused',
    message: expect.stringMatching(
      /^The database refused the role 'reader': permission denied: /,
    ) as unknown,
    errors: [{ code: 'permission denied' }],
  });
});

test.each([
  { phase: 'compares', at: '"exists":' },
  { phase: 'writes', at: '"create":' },
])(
  'an import whose key is deleted while it $phase ends at once and blames no line',
  async ({ at }) => {
    const to = await open();
    const client = to.client();
    await client.query(q.CreateCollection({ name: 'notes' }));
    await client.query(q.Create(q.Ref(q.Collection('notes'), '1'), { data: { n: 1 } }));
    const { ref, secret } = await client.query(q.CreateKey({ role: 'server' }));
    let refused = 0;
    const database: DataDatabase = {
      fetch: async (input, init) => {
        if (init.body.includes(at)) await client.query(q.If(q.Exists(ref), q.Delete(ref), null));
        const response = await to.fetch(input, init);
        if (response.status === 401) refused += 1;
        return response;
      },
    };
    const source = blobOf('{"no":1,"n":1}', '{"no":2,"n":2}', '{"no":3,"n":3}');
    const options = { format: 'jsonl', collection: 'notes', id: 'no', secret } as const;
    await expect(importDatabase(database, source, options)).rejects.toMatchObject({
      code: 'refused',
      line: undefined,
      errors: [{ code: 'unauthorized' }],
    });
    expect(refused).toBe(1);
  },
);

test('the error names the line of a document that violates a unique index', async () => {
  const [from, to] = [await open(), await open()];
  await fill(from, { documents: 1 });
  await fill(to, { documents: 1 });
  await ask(
    to,
    '{"do":[{"delete":{"ref":{"collection":"users"},"id":"1"}},{"create":{"ref":{"collection":"users"},"id":"5"},"params":{"object":{"data":{"object":{"email":"a@b"}}}}}]}',
  );
  await expect(importDatabase(to, await packed(from))).rejects.toMatchObject({
    code: 'refused',
    line: 10,
    errors: [{ code: 'instance not unique' }],
  });
});

test('a truncated or changed source is refused before anything is written', async () => {
  const [from, to] = [await open(), await open()];
  await fill(from, { documents: 700 });
  const whole = new Uint8Array(await (await packed(from)).arrayBuffer());
  const text = await new Response(exportDatabase(from, { gzip: false })).text();
  const lines = text.trimEnd().split('\n');
  const cases: [Blob, string][] = [
    [new Blob([whole.slice(0, whole.length - 5)]), 'damaged'],
    [new Blob([whole.slice(0, whole.length / 2)]), 'damaged'],
    [new Blob([text.slice(0, text.length / 2)]), 'incomplete'],
    [new Blob([text.slice(0, -3)]), 'incomplete'],
    [blobOf(...lines.slice(0, 40), '{"ref"', ...lines.slice(41)), 'invalid_line'],
    [blobOf(...lines.slice(0, -1)), 'incomplete'],
    [blobOf(...lines.slice(0, 40), ...lines.slice(41)), 'incomplete'],
    [blobOf(...lines, lines[50] ?? ''), 'damaged'],
    [new Blob([text.replace('a note as long', 'a lie, as long')]), 'damaged'],
    [new Blob([text.replace('"version":1', '"version":2')]), 'newer_format'],
    [new Blob([text.replace('burrow-export', 'other')]), 'invalid_line'],
    [new Blob([]), 'incomplete'],
    [new Blob([new Uint8Array([0x7b, 0xff, 0xfe])]), 'damaged'],
  ];
  for (const [file, code] of cases)
    await expect(importDatabase(to, file)).rejects.toMatchObject({ name: 'DataError', code });
  expect(await linesOfExport(to)).toEqual([]);
});

test('an endless line is refused, even if it comes from a small compressed file', async () => {
  const to = await openDatabase();
  const bomb = new Blob([new Uint8Array(gzipSync(new Uint8Array(64 * 1024 * 1024).fill(0x20)))]);
  await expect(importDatabase(to, bomb)).rejects.toMatchObject({ code: 'line_too_long', line: 1 });
  await to.close();
});

test('an import stops when its signal is aborted, and another run completes it', async () => {
  const [from, to] = [await open(), await open()];
  await fill(from, { documents: 1500 });
  const file = await packed(from);
  const abort = new AbortController();
  const { signal } = abort;
  const onProgress = ({ phase, done }: DataProgress): void => {
    if (phase === 'importing' && done > 0) abort.abort();
  };
  await expect(importDatabase(to, file, { signal, onProgress })).rejects.toMatchObject({
    name: 'AbortError',
  });
  const { imported, same } = await importDatabase(to, file);
  expect(imported + same).toBe(1502);
  expect(imported).toBeGreaterThan(0);
  expect(await linesOfExport(to)).toEqual(await linesOfExport(from));
});

test.each([{ parts: [] }, { parts: ['{'] }, { parts: ['{"n":1}\n'] }])(
  'an import whose source stalls stops when its signal is aborted: $parts',
  async ({ parts: [...parts] }) => {
    const to = await open();
    await to.client().query(q.CreateCollection({ name: 'notes' }));
    const abort = new AbortController();
    const { signal } = abort;
    let isCancelled = false;
    const source = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const part = parts.shift();
          if (part !== undefined) return controller.enqueue(new TextEncoder().encode(part));
          abort.abort();
          return new Promise<void>(() => undefined);
        },
        cancel: () => void (isCancelled = true),
      },
      { highWaterMark: 0 },
    );
    const importing = importDatabase(to, source, { format: 'jsonl', collection: 'notes', signal });
    await expect(importing).rejects.toMatchObject({ name: 'AbortError' });
    expect(isCancelled).toBe(true);
  },
);

test('an import whose source fails ends after its last write', async () => {
  const to = await open();
  await to.client().query(q.CreateCollection({ name: 'notes' }));
  let release = (): void => undefined;
  let fail = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const failed = new Promise<void>((resolve) => (fail = resolve));
  const events: string[] = [];
  const slow: DataDatabase = {
    rootSecret: to.rootSecret,
    fetch: async (input, init) => {
      const isWrite = init.body.includes('"create":');
      if (isWrite) await released;
      const response = await to.fetch(input, init);
      if (isWrite) events.push('written');
      return response;
    },
  };
  const parts = ['{"n":1}\n'.repeat(600), '{"n'];
  const source = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const part = parts.shift();
        if (part !== undefined) return controller.enqueue(new TextEncoder().encode(part));
        controller.error(new Error('the network is gone'));
        fail();
      },
    },
    { highWaterMark: 0 },
  );
  const ended = importDatabase(slow, source, { format: 'jsonl', collection: 'notes' }).catch(
    (reason: unknown) => void events.push(String(reason)),
  );
  await failed;
  await to.client().query(q.Now());
  release();
  await ended;
  expect(events).toEqual(['written', 'Error: the network is gone']);
});

test('an export from a page imports into a hub, and back', async () => {
  const hub = await openHub();
  const [from, back] = [await open(), await open()];
  await fill(from, { documents: 50 });
  await importDatabase(hub, exportDatabase(from));
  expect(await linesOfExport(hub)).toEqual(await linesOfExport(from));
  await importDatabase(back, exportDatabase(hub, { gzip: false }));
  expect(await linesOfExport(back)).toEqual(await linesOfExport(from));
  await hub.close();
});

test('the copy of a syncing device is exported like any database', async () => {
  const hub = await openHub();
  const [copy, to] = [await open(), await open()];
  await fill(hub, { documents: 20 });
  const sets = [q.Documents(q.Collection('notes')), q.Documents(q.Collection('users'))];
  const sync = await copy.sync({ url: hub.url, secret: hub.rootSecret, sets });
  await sync.whenSynced();
  const documents = (lines: readonly string[]) => lines.filter((line) => line.startsWith('{"ref"'));
  const there = documents(await linesOfExport(hub));
  expect(documents(await linesOfExport(copy))).toEqual(there);
  await importDatabase(to, await packed(copy));
  expect(documents(await linesOfExport(to))).toEqual(there);
  await to.client().query(q.Create(q.Ref(q.Collection('notes'), '77'), { data: {} }));
  await expect(importDatabase(copy, await packed(to))).rejects.toMatchObject({
    code: 'refused',
    errors: [{ code: 'forbidden' }],
  });
  await hub.close();
});

test('documents of the maximum size survive export and import', async () => {
  const [from, to] = [await open(), await open()];
  await from.client().query(q.CreateCollection({ name: 'notes' }));
  for (const id of ['1', '2', '3'])
    await from
      .client()
      .query(q.Create(q.Ref(q.Collection('notes'), id), { data: { text: id.repeat(7e6) } }));
  await importDatabase(to, await packed(from));
  expect(await linesOfExport(to)).toEqual(await linesOfExport(from));
});

/** Wire JSON of values, with keys and strings that are hard to quote. */
const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('@ref', '__proto__', ''));
const { tree } = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((value) =>
        Number.isInteger(value)
          ? value.toExponential().replace(/^(-?\d)e/, '$1.0e')
          : String(value),
      ),
    anyText.map((text) => JSON.stringify(text)),
    fc.boolean().map(String),
    fc
      .uint8Array({ maxLength: 9 })
      .map((bytes) => `{"@bytes":"${Buffer.from(bytes).toString('base64')}"}`),
    fc
      .date({ noInvalidDate: true, min: new Date('0001-01-01'), max: new Date('9998-12-31') })
      .map((date) => `{"@ts":"${date.toISOString()}"}`),
    fc.array(tie('tree'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc.dictionary(anyText, tie('tree'), { maxKeys: 4 }).map(
      (members) =>
        `{"object":{"@obj":{${Object.entries(members)
          .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
          .join(',')}}}}`,
    ),
  ),
}));

test('any documents survive export and import unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(tree, { maxLength: 8 }), async (values) => {
      const [from, to] = [await open(), await open()];
      await ask(from, '{"create_collection":{"object":{"name":"notes"}}}');
      for (const value of values)
        await ask(
          from,
          `{"create":{"collection":"notes"},"params":{"object":{"data":{"object":{"value":${value}}}}}}`,
        );
      const file = await packed(from);
      expect(await importDatabase(to, file)).toMatchObject({ imported: values.length });
      expect(await linesOfExport(to)).toEqual(await linesOfExport(from));
      expect(await importDatabase(to, file)).toMatchObject({ same: values.length });
    }),
    { numRuns: 25 },
  );
}, 60_000);
