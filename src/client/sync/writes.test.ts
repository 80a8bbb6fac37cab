import { expect, test } from 'vitest';
import { unreachable } from '../../errors.ts';
import type { JudgedData, PendingData } from '../../host/sync.ts';
import { NotFound } from '../errors.ts';
import { judgedWriteOf, writeOf, type Verdict, type Write } from './writes.ts';

const made = { id: '0.1', madeMicros: 1_767_225_600_000_000, query: '1', replaces: undefined };
const pending: PendingData = { ...made, state: 'local', predicted: 'refused' };
const judged = (state: JudgedData['state'], body: string | undefined): JudgedData => ({
  ...made,
  state,
  ts: 7,
  body,
});
const REFUSAL = '{"errors":[{"code":"instance not found","description":"Gone.","position":[]}]}';

/** The compiler knows from `state` which members a write has. */
function toldOf(write: Write): unknown {
  switch (write.state) {
    case 'refused':
      return write.error.code;
    case 'confirmed':
    case 'amended':
      return write.value;
    case 'local':
    case 'parked':
      // @ts-expect-error It has no verdict yet.
      return write.value ?? write.predicted;
    default:
      return unreachable(write);
  }
}

test('writeOf() returns the members of the state of a write', async () => {
  const at = new Date('2026-01-01T00:00:00Z');
  const same = { id: '0.1', at, query: '1', replaces: undefined };
  expect(await writeOf(pending)).toEqual({ ...same, state: 'local', predicted: 'refused' });
  expect(await writeOf(judged('amended', '{"resource":{"@ts":"2026-01-01T00:00:00Z"}}'))).toEqual({
    ...same,
    state: 'amended',
    predicted: undefined,
    ts: 7,
    value: expect.objectContaining({ value: '2026-01-01T00:00:00Z' }),
  });
  const told = [pending, judged('confirmed', '{"resource":5}'), judged('refused', REFUSAL)];
  const seen = await Promise.all(told.map(async (data) => toldOf(await writeOf(data))));
  expect(seen).toEqual(['refused', 5, 'instance not found']);
});

test('a refused write has the error of its code, or `unknown_error` if no reason was kept', async () => {
  const write = await judgedWriteOf(judged('refused', REFUSAL));
  expect(write).toMatchObject({ state: 'refused', error: { status: 404, description: 'Gone.' } });
  expect(write.state === 'refused' && write.error).toBeInstanceOf(NotFound);
  const long = await judgedWriteOf(judged('refused', undefined));
  expect(long).toMatchObject({ state: 'refused', error: { code: 'unknown_error' } });
  const value = await judgedWriteOf(judged('confirmed', undefined));
  expect(value).toMatchObject({ state: 'confirmed', value: undefined });
});

test('the state of a verdict narrows its type', () => {
  const told = (verdict: Verdict<number>): number | string | undefined =>
    verdict.state === 'refused' ? verdict.error.description : verdict.value;
  expect(told({ id: '0.1', state: 'confirmed', ts: 1, value: 3 })).toBe(3);
});
