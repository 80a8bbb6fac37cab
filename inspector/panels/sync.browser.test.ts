import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Diagnostics, SyncRecord } from '../../src/host/diagnostics.ts';
import type { JudgedData, WriteData, PendingData } from '../../src/host/sync.ts';
import type { Context, Panel } from '../context.ts';
import { syncPanel } from './sync.ts';

const pending = (id: string, changes: Partial<PendingData> = {}): PendingData => ({
  id,
  madeMicros: 1_800_000_000_000_000,
  query: '{"delete":{"ref":{"collection":"notes"},"id":"1"}}',
  replaces: undefined,
  state: 'local',
  predicted: undefined,
  ...changes,
});

const recordOf = (
  writes: readonly WriteData[],
  changes: Partial<SyncRecord> = {},
): Diagnostics => ({
  last: 0,
  dropped: 0,
  isLogged: false,
  queries: [],
  live: [],
  sync: {
    state: 'live',
    reason: undefined,
    hub: 'https://hub.example',
    cursorMicros: undefined,
    hasSchema: true,
    sets: [],
    pending: writes.length,
    pendingSize: 0,
    skewMicros: 0,
    writes,
    ...changes,
  },
});

let panel: Panel;
let root: ShadowRoot;
const draw = (diagnostics: Diagnostics) => panel.draw?.(diagnostics);
const itemsIn = () => [...root.querySelectorAll('details')];

beforeEach(() => {
  const host = document.createElement('div');
  document.body.append(host);
  root = host.attachShadow({ mode: 'open' });
  panel = syncPanel({ say: () => undefined } as unknown as Context);
  root.append(panel.node);
});
afterEach(() => document.body.replaceChildren());

test('the state of each write is shown as a sentence', () => {
  draw(recordOf([pending('0.1'), pending('0.2', { state: 'parked' })]));
  expect(panel.node.textContent).toContain('State: not synced yet.');
  expect(panel.node.textContent).toContain('State: waits for a login.');
});

test('the panel says whether the clock of the hub is ahead or behind', () => {
  draw(recordOf([], { skewMicros: 2_000 }));
  expect(panel.node.textContent).toContain('2 ms ahead of this device');
  draw(recordOf([], { skewMicros: -5_000 }));
  expect(panel.node.textContent).toContain('5 ms behind this device');
});

test('a write is marked while it is predicted to be refused', () => {
  draw(recordOf([pending('0.1')]));
  expect(panel.node.textContent).not.toContain('will probably be refused');
  draw(recordOf([pending('0.1', { predicted: 'refused' })]));
  expect(panel.node.textContent).toContain('will probably be refused');
  draw(recordOf([pending('0.1')]));
  expect(panel.node.textContent).not.toContain('will probably be refused');
});

test('the list is not redrawn while a write has the focus', () => {
  draw(recordOf([pending('0.1')]));
  const summary = root.querySelector('summary');
  summary?.focus();
  const both = recordOf([pending('0.1'), pending('0.2')]);
  draw(both);
  expect(itemsIn()).toHaveLength(1);
  summary?.blur();
  draw(both);
  expect(itemsIn()).toHaveLength(2);
});

test.each([
  ['{"create":"notes","params":{"object":{}}}', 'Create("notes", {})'],
  ['{"abs":9007199254740993}', ''],
  ['{"divide":[5.0,2]}', ''],
  ['{"create":"notes","params":{"object":{"data":{"object":{"a":"Bearer abcdefgh"}}}}}', ''],
])('a refused write is offered for an edit only if it is shown exactly: %s', (query, shown) => {
  const { id, madeMicros, replaces } = pending('0.1');
  const error = { code: 'permission denied', description: 'No.' };
  const refused: JudgedData = {
    id,
    madeMicros,
    replaces,
    query,
    state: 'refused',
    ts: 1,
    body: JSON.stringify({ errors: [error] }),
  };
  draw(recordOf([refused]));
  expect(root.querySelector('textarea')?.value).toBe(shown);
});
