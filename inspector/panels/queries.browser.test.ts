import { afterEach, expect, test } from 'vitest';
import type { QueryRecord } from '../../src/host/diagnostics.ts';
import type { Context } from '../context.ts';
import { queriesPanel } from './queries.ts';

afterEach(() => document.body.replaceChildren());

const record = (number: number, reads: QueryRecord['reads']): QueryRecord =>
  ({
    number,
    tsMicros: 1_800_000_000_000_000,
    query: '{"add":[1,2]}',
    status: 200,
    metrics: { queryTime: 1, readOps: 6, writeOps: 0 },
    reads,
  }) as unknown as QueryRecord;

test('if the reads of a query are unknown, only their number is shown', () => {
  const panel = queriesPanel({} as Context);
  const { node } = panel;
  document.body.append(node);
  const known = { collections: [{ name: 'notes', count: 2 }], indexes: [], entries: 0 };
  panel.draw?.({
    last: 2,
    dropped: 0,
    isLogged: true,
    queries: [record(1, undefined), record(2, known)],
    live: [],
    sync: undefined,
  });
  const [later, earlier] = [...node.querySelectorAll('summary')].map((each) => each.textContent);
  expect(later).toContain('2 documents, 0 entries');
  expect(earlier).toContain('6 reads');
  expect(earlier).not.toContain('entries');
});

test('a denied query shows which resource was denied', async () => {
  const context = { schema: () => Promise.reject(new Error('not loaded')) };
  const panel = queriesPanel(context as unknown as Context);
  const { node } = panel;
  document.body.append(node);
  const denied = {
    ...record(1, undefined),
    query: '{"paginate":{"documents":{"collection":"notes"}}}',
    status: 403,
    errorCode: 'permission denied',
    errorPosition: ['paginate'],
  };
  panel.draw?.({
    last: 1,
    dropped: 0,
    isLogged: true,
    queries: [denied],
    live: [],
    sync: undefined,
  });
  node.querySelector('summary')?.click();
  await expect.poll(() => node.textContent).toContain("paginate of collection 'notes'");
});
