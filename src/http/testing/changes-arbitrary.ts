/** Arbitrary commits and reads with few different keys, so that they often overlap. */
import * as fc from 'fast-check';
import { keyAfter, keyOfBytes } from '../../codec/key.ts';
import type { CommitNotice } from '../../engine/host.ts';

const SPACES = ['documents', 'history'] as const;
const key = fc.stringMatching(/^[a-c]{1,10}$/).map((text) => keyOfBytes(text));
const address = fc.record({ space: fc.constantFrom(...SPACES), key });
const range = fc
  .record({
    space: fc.constantFrom(...SPACES),
    by: fc.constantFrom('key' as const, 'entry' as const),
    ends: fc.tuple(key, key),
  })
  .map(({ space, by, ends: [one, other] }) => ({
    space,
    by,
    lower: one < other ? one : other,
    upper: keyAfter(one < other ? other : one),
    reverse: false,
    limit: 1,
    rows: true,
  }));
export const anyReads = fc.record({ rows: fc.array(address), ranges: fc.array(range) });
export const anyNotice = fc
  .record({
    rows: fc.array(address, { maxLength: 3 }),
    entries: fc.array(address, { maxLength: 3 }),
  })
  .map(({ rows, entries }): CommitNotice => ({ previous: 0, ts: 1, rows, entries }));
