/** Arbitrary values for property tests of the packed store's codec. */
import * as fc from 'fast-check';
import { keyOfBytes, type Key } from '../../codec/key.ts';
import type { Row } from '../../store/port.ts';
import type { LogRecord } from '../codec/log-record.ts';
import { ALL_FAMILIES, type Family } from '../families.ts';
import {
  compareItemKeys,
  familiesOf,
  type ItemKey,
  type Manifest,
  type Run,
  type Table,
} from '../manifest.ts';

const anyByte = fc.oneof(
  fc.constantFrom('\0', '\x01', 'a', 'b', '\xff'),
  fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
);
const anyRaw = fc.string({ unit: anyByte, minLength: 1, maxLength: 12 });
const anyKey: fc.Arbitrary<Key> = anyRaw.map(keyOfBytes);

const anyValue = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 400 }),
  fc.constantFrom('', '\ud800', 'é😀', '{"a":1}'),
  fc.uint8Array({ maxLength: 40 }),
);

export const anyRow: fc.Arbitrary<Row> = fc.record({
  key: anyKey,
  entries: fc.uniqueArray(anyKey, { maxLength: 4 }),
  value: anyValue,
});

export const anyFamily: fc.Arbitrary<Family> = fc.constantFrom(...ALL_FAMILIES);

const anyItemKey: fc.Arbitrary<ItemKey> = fc.record({ key: anyRaw, owner: anyRaw });

/** Items in sorted order, with different keys. */
export const anyItems = fc
  .uniqueArray(
    fc.record({
      key: anyRaw,
      owner: anyRaw,
      body: fc.option(fc.uint8Array({ maxLength: 20 }), { nil: undefined }),
    }),
    { selector: ({ key }) => key, minLength: 1, maxLength: 100 },
  )
  .map((items) => items.toSorted(compareItemKeys));

const anyNumber = fc.maxSafeNat();
const anyTable: fc.Arbitrary<Table> = fc.record({
  first: anyNumber,
  index: fc.nat(),
  indexParts: fc.nat(),
  items: fc.nat(),
  bytes: fc.nat(),
  low: anyItemKey,
  high: anyItemKey,
});
const anyRun: fc.Arbitrary<Run> = fc.record({
  level: fc.nat(20),
  isMerging: fc.boolean(),
  tables: fc.array(anyTable, { maxLength: 3 }),
});

export const anyManifest: fc.Arbitrary<Manifest> = fc.record({
  flushed: anyNumber,
  swept: anyNumber,
  families: fc
    .array(fc.array(anyRun, { maxLength: 2 }), { minLength: 8, maxLength: 8 })
    .map((runs) => familiesOf((family) => runs[family] ?? [])),
  retired: fc.array(
    fc.record({ first: fc.nat(), more: fc.nat() }).map(({ first, more }) => ({
      first,
      last: first + more,
    })),
    { maxLength: 3 },
  ),
});

const anyChange = fc
  .record({
    space: fc.constantFrom('documents', 'history', 'sync', 'meta', 'log', 'files'),
    row: anyRow,
    isPut: fc.boolean(),
    ended: fc.array(anyKey, { maxLength: 3 }),
  })
  .map(({ space, row, isPut, ended }) => ({
    space,
    key: row.key,
    row: isPut ? row : undefined,
    ended,
  }));

export const anyRecord: fc.Arbitrary<LogRecord> = fc.oneof(
  fc.record({
    kind: fc.constant('commit' as const),
    changes: fc.array(anyChange, { maxLength: 6 }),
  }),
  fc.constant({ kind: 'claim' as const }),
  anyManifest.map((manifest) => ({ kind: 'flip' as const, manifest })),
);
