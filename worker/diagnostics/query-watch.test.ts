import { expect, test } from 'vitest';
import { collectionPrefix, documentKey, indexPrefix } from '../../src/codec/key.ts';
import { INSPECTOR_TAG } from '../../src/host/diagnostics.ts';
import { NO_METRICS } from '../../src/engine/session.ts';
import {
  countReads,
  QueryWatch,
  WATCH_MICROS,
  WATCHED_CHARS_MAX,
  WATCHED_QUERIES_MAX,
  type RecordLog,
} from './query-watch.ts';

const REQUEST = { ts: 5, method: 'POST', path: '/', query: '{"get":1}', apiVersion: '4' };
const ANSWER = {
  status: 200,
  database: [],
  metrics: NO_METRICS,
  credential: { kind: 'root', id: '' },
} as const;

function watching() {
  const state = { now: 0, logged: 0 };
  const log: RecordLog = {
    add: () => void state.logged++,
    flush: () => Promise.resolve(),
    isDirty: false,
    counts: { recorded: 0, lost: 0 },
  };
  return { state, log, watch: new QueryWatch(log, () => state.now) };
}

test('QueryWatch returns the original log before begin() and after stop()', () => {
  const { watch, log } = watching();
  const without = new QueryWatch(undefined, () => 0);
  expect(without.log).toBeUndefined();
  expect(watch.log).toBe(log);
  watch.begin();
  expect(watch.log).not.toBe(log);
  watch.stop();
  expect(watch.log).toBe(log);
});

test('QueryWatch keeps queries after begin(), and stops when nobody asks for them for a while', () => {
  const { watch, log, state } = watching();
  watch.begin();
  watch.log?.add(REQUEST, ANSWER);
  watch.log?.add(REQUEST, { ...ANSWER, readSet: { rows: [], ranges: [] }, scanned: 3 });
  expect(state.logged).toBe(2);
  expect(watch.after(0)).toMatchObject({
    last: 2,
    dropped: 0,
    queries: [
      { number: 1, actor: 'root', reads: undefined },
      { number: 2, query: '{"get":1}', reads: { entries: 3 } },
    ],
  });
  expect(watch.after(1).queries).toHaveLength(1);
  state.now = WATCH_MICROS + 1;
  expect(watch.log).toBe(log);
  expect(watch.after(0).queries).toEqual([]);
});

test('QueryWatch hides secrets and the text of unauthorized queries, and leaves out queries of the inspector', () => {
  const { watch } = watching();
  watch.begin();
  const add = watch.log;
  add?.add({ ...REQUEST, query: '{"login":1,"params":{"object":{"password":"pw"}}}' }, ANSWER);
  add?.add(REQUEST, { ...ANSWER, status: 401, credential: undefined });
  add?.add({ ...REQUEST, tags: new Map([[INSPECTOR_TAG, '1']]) }, ANSWER);
  const { queries } = watch.after(0);
  expect(queries.map(({ query }) => query)).toEqual([
    '{"login":"***","params":{"object":{"password":"***"}}}',
    undefined,
  ]);
});

test('QueryWatch keeps a limited number of queries and characters', () => {
  const { watch } = watching();
  watch.begin();
  const log = watch.log;
  for (let at = 0; at <= WATCHED_QUERIES_MAX; at += 1) log?.add(REQUEST, ANSWER);
  expect(watch.after(0)).toMatchObject({ dropped: 1, last: WATCHED_QUERIES_MAX + 1 });
  expect(watch.after(0).queries).toHaveLength(WATCHED_QUERIES_MAX);
  const long = { ...REQUEST, query: JSON.stringify('x'.repeat(16_000)) };
  for (let at = 0; at < WATCHED_QUERIES_MAX; at += 1) log?.add(long, ANSWER);
  const chars = watch.after(0).queries.reduce((sum, { query }) => sum + (query?.length ?? 0), 0);
  expect(chars).toBeLessThanOrEqual(WATCHED_CHARS_MAX);
});

test('countReads() counts each document once, and leaves out internal reads', () => {
  const key = documentKey(0, 1024, 7n);
  const range = { reverse: false, limit: 10, rows: false, upper: key } as const;
  const { collections, indexes } = countReads({
    rows: [
      { space: 'documents', key },
      { space: 'documents', key },
      { space: 'documents', key: documentKey(0, 1024, 8n) },
      { space: 'documents', key: documentKey(0, 1, 1024n) },
      { space: 'sync', key },
    ],
    ranges: [
      { ...range, space: 'documents', by: 'entry', lower: indexPrefix(0, 32_768) },
      { ...range, space: 'documents', by: 'entry', lower: indexPrefix(0, 1) },
      { ...range, space: 'documents', by: 'key', lower: collectionPrefix(0, 1025) },
    ],
  });
  expect([...collections]).toEqual([
    [collectionPrefix(0, 1024), 2],
    [collectionPrefix(0, 1025), 0],
  ]);
  expect([...indexes]).toEqual([[indexPrefix(0, 32_768), 1]]);
});
