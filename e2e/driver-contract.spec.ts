/** What Fauna's original driver requires of a `fetch`, in the order of the document about its contract. */
import { expect } from '@playwright/test';
import { test } from './support/app-test.ts';
import type { DriverResult, DriverStream } from './support/driver.ts';

test('the original driver gets values, transaction times, metrics, pages and headers over db.fetch', async ({
  profile,
}) => {
  const page = await profile.openTab();
  const result = await page.evaluate(async () => {
    const { Client, q, values } = await loadDriver();
    // Destructured, because the driver calls `fetch` without the database as `this`.
    const { fetch, rootSecret: secret } = await burrow.openDatabase('contract');
    const observed: DriverResult[] = [];
    // A host that does not exist, and a base URL that leads to paths with two slashes.
    const admin = new Client({
      secret,
      fetch,
      endpoint: 'http://nowhere.invalid:1/',
      observer: (result: DriverResult) => observed.push(result),
    });
    const lastSeen = [admin.getLastTxnTime() ?? 0];
    await admin.query(q('CreateCollection', { name: 'notes' }));
    lastSeen.push(admin.getLastTxnTime());
    const notes = q('Collection', 'notes');
    await admin.query(
      q('Map', [1, 2, 3, 4, 5], (id: unknown) =>
        q('Create', q('Ref', notes, id), { data: { id } }),
      ),
    );
    lastSeen.push(admin.getLastTxnTime());
    const revived = await admin.query({
      ref: q('Ref', notes, '1'),
      set: q('Documents', notes),
      time: q('Time', '2026-03-01T00:00:00.000000001Z'),
      date: q('Date', '2026-03-01'),
      bytes: q('Bytes', 'AQID'),
      lambda: q('Query', q('Lambda', 'x', q('Var', 'x'))),
      tagged: q('ToObject', [['@key', 1]]),
      native: q('Collections'),
    });
    const kinds = Object.fromEntries(
      Object.entries(revived).map(([key, value]) => [
        key,
        Object.entries(values).find(
          ([name, type]) => name !== 'Value' && typeof type === 'function' && value instanceof type,
        )?.[0] ?? value,
      ]),
    );
    const pages = admin.paginate(q('Documents', notes), { size: 2 });
    const ids = (refs: readonly unknown[]): string =>
      refs.map((ref) => (ref as { id: string }).id).join();
    const walked = [ids(await pages.nextPage()), ids(await pages.nextPage())];
    walked.push(ids(await pages.previousPage()));
    const doubled: unknown[] = [];
    await admin
      .paginate(q('Documents', notes), { size: 2 })
      .map((ref: unknown) => q('Multiply', 2, q('Select', ['data', 'id'], q('Get', ref))))
      .filter((id: unknown) => q('GT', id, 2))
      .each((each) => doubled.push(...each));
    const reverse: string[] = [];
    await admin
      .paginate(q('Documents', notes), { size: 2 })
      .eachReverse((each) => reverse.push(ids(each)));
    await admin.query(1, {
      tags: { app: 'contract' },
      traceparent: '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01',
    });
    const { metrics } = await admin.queryWithMetrics(q('Create', notes));
    return {
      ping: [await new Client({ fetch }).ping(), await new Client({ fetch }).ping('node', 1000)],
      kinds,
      lastSeen,
      walked,
      doubled,
      reverse,
      metrics,
      headers: observed.at(-2)?.responseHeaders ?? {},
      bySecret: await new Client({ fetch }).query(q('Add', 1, 1), { secret }),
    };
  });
  expect(result.ping).toEqual([expect.any(String), expect.any(String)]);
  expect(result.kinds).toEqual({
    ref: 'Ref',
    set: 'SetRef',
    time: 'FaunaTime',
    date: 'FaunaDate',
    bytes: 'Bytes',
    lambda: 'Query',
    tagged: { '@key': 1 },
    native: 'Ref',
  });
  expect(result.lastSeen.toSorted((a, b) => a - b)).toEqual(result.lastSeen);
  expect(new Set(result.lastSeen).size).toBe(3);
  expect(result.walked).toEqual(['1,2', '3,4', '1,2']);
  expect(result.doubled).toEqual([4, 6, 8, 10]);
  expect(result.reverse).toEqual(['4,5', '2,3', '1']);
  for (const name of ['x-compute-ops', 'x-byte-read-ops', 'x-byte-write-ops', 'x-query-time']) {
    expect(Number.isInteger(result.metrics[name]), name).toBe(true);
  }
  expect(Number.isInteger(result.metrics['x-txn-retries'])).toBe(true);
  expect(result.headers).toMatchObject({
    'x-txn-time': expect.stringMatching(/^\d{16}$/),
    'x-fauna-tags': 'app=contract',
    traceparent: expect.stringContaining('0123456789abcdef0123456789abcdef'),
    'x-storage-bytes-read': expect.any(String),
    'x-storage-bytes-write': expect.any(String),
    'x-query-bytes-in': expect.any(String),
    'x-query-bytes-out': expect.any(String),
  });
  expect(result.bySecret).toBe(2);
});

test('the original driver reports failures over db.fetch by its error classes, and its own timeouts and closing', async ({
  profile,
}) => {
  const page = await profile.openTab();
  const result = await page.evaluate(async () => {
    const { Client, q } = await loadDriver();
    const { fetch, rootSecret: secret } = await burrow.openDatabase('failures');
    const admin = new Client({ secret, fetch });
    await admin.query(q('CreateCollection', { name: 'notes' }));
    const failure = async (work: Promise<unknown>): Promise<unknown> => {
      try {
        return { value: await work };
      } catch (error) {
        const { name, message, requestResult } = error as Error & {
          requestResult?: { statusCode: number };
        };
        return [name, message, requestResult?.statusCode];
      }
    };
    const missing = q('Get', q('Ref', q('Collection', 'notes'), '1'));
    const server = await admin.query(q('CreateKey', { role: 'server' }));
    const long = q(
      'Reduce',
      (sum: unknown, each: unknown) =>
        q('Add', sum, q('Count', q('NGram', q('Repeat', 'ab', 1024))), q('Multiply', 0, each)),
      0,
      Array.from({ length: 2000 }, (_, each) => each),
    );
    const other = new Client({
      secret,
      fetch: (url: string, init: object) => fetch(url, { ...init, method: 'PUT' }),
    });
    const closing = new Client({ secret, fetch });
    const pending = failure(closing.query(long));
    await closing.close({ force: true });
    const failures = {
      badRequest: await failure(admin.query(q('Divide', 1, 0))),
      aborted: await failure(admin.query(q('Abort', 'enough'))),
      unauthorized: await failure(new Client({ secret: 'nobody', fetch }).query(1)),
      noSecret: await failure(new Client({ fetch }).query(1)),
      denied: await failure(
        new Client({ secret: server['secret'], fetch }).query(q('CreateKey', { role: 'admin' })),
      ),
      notFound: await failure(admin.query(missing)),
      value: await failure(admin.query(q('Select', 'a', {}))),
      method: await failure(other.query(1)),
      unavailable: await failure(admin.query(long, { queryTimeout: 1 })),
      timeout: await failure(new Client({ secret, fetch, timeout: 0.001 }).query(long)),
      forced: await pending,
      closed: await failure(closing.query(1)),
    };
    await admin.close();
    return failures;
  });
  expect(result).toEqual({
    badRequest: ['BadRequest', 'invalid argument', 400],
    aborted: ['BadRequest', 'transaction aborted', 400],
    unauthorized: ['Unauthorized', expect.stringMatching(/^unauthorized/), 401],
    noSecret: ['Unauthorized', expect.stringMatching(/^unauthorized/), 401],
    denied: ['PermissionDenied', 'permission denied', 403],
    notFound: ['NotFound', 'instance not found', 404],
    value: ['NotFound', 'value not found', 404],
    method: ['MethodNotAllowed', 'method not allowed', 405],
    unavailable: ['UnavailableError', 'time out', 503],
    timeout: ['Error', 'Request aborted due to timeout', undefined],
    forced: ['ClientClosed', expect.any(String), undefined],
    closed: ['ClientClosed', expect.any(String), undefined],
  });
});

test('the original driver streams documents and sets over db.fetch until it closes the streams', async ({
  profile,
}) => {
  const page = await profile.openTab();
  const result = await page.evaluate(async () => {
    const { Client, q } = await loadDriver();
    const { fetch, rootSecret: secret } = await burrow.openDatabase('streams');
    const admin = new Client({ secret, fetch });
    await admin.query(q('CreateCollection', { name: 'notes' }));
    const notes = q('Collection', 'notes');
    const ref = q('Ref', notes, '1');
    await admin.query(q('Create', ref, { data: { text: 'a' } }));

    /** Collects the events of a stream, and can wait for a number of them. */
    const listen = (stream: DriverStream, types: readonly string[]) => {
      const events: unknown[] = [];
      let wake: () => void = () => undefined;
      for (const type of types) {
        stream.on(type, (event: never) => {
          events.push([type, JSON.parse(JSON.stringify(event))]);
          wake();
        });
      }
      stream.start();
      return {
        events,
        stream,
        async until(count: number) {
          while (events.length < count) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
        },
      };
    };
    const types = ['start', 'version', 'set', 'history_rewrite', 'error'];
    const document = listen(admin.stream.document(ref, { fields: ['action', 'diff'] }), [
      ...types,
      'snapshot',
    ]);
    await document.until(2);
    const set = listen(admin.stream(q('Documents', notes)), types);
    await set.until(1);
    await admin.query(q('Update', ref, { data: { text: 'b é 🦊' } }));
    await admin.query(q('Create', q('Ref', notes, '2')));
    await admin.query(q('Delete', ref));
    await document.until(4);
    await set.until(3);
    document.stream.close();
    set.stream.close();
    await admin.query(q('Create', q('Ref', notes, '3')));
    const refused = listen(admin.stream(q('Now')), types);
    await refused.until(1);
    const once = admin.stream(ref);
    const seen: string[] = [];
    await new Promise<void>((resolve) => {
      // Closes the stream while the driver is reading: no event may follow.
      once.on('start', () => {
        seen.push('start');
        once.close();
        resolve();
      });
      once.on('error', () => seen.push('error'));
      once.start();
    });
    const forced = listen(admin.stream(q('Documents', notes)), types);
    await forced.until(1);
    await admin.close();
    return {
      document: document.events,
      set: set.events,
      refused: refused.events,
      seen,
      forced: forced.events.length,
    };
  });
  const types = (events: readonly unknown[]): unknown =>
    (events as readonly (readonly [string, { action?: string }])[]).map(([type, { action }]) =>
      action === undefined ? type : `${type} ${action}`,
    );
  expect(types(result.document)).toEqual(['start', 'snapshot', 'version update', 'version delete']);
  expect(result.document[2]).toMatchObject(['version', { diff: { data: { text: 'b é 🦊' } } }]);
  expect(types(result.set)).toEqual(['start', 'set add', 'set remove']);
  expect(JSON.stringify(result.refused)).toContain('invalid argument');
  expect(result.seen).toEqual(['start']);
  expect(result.forced).toBe(1);
});
