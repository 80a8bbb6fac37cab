import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinBytes } from '../../codec/join-bytes.ts';
import { keyOfBytes } from '../../codec/key.ts';
import { utf8Bytes } from '../../codec/utf8.ts';
import { compareItemKeys, familiesOf, type ItemKey } from '../manifest.ts';
import { anyFamily, anyItems, anyManifest, anyRecord, anyRow } from '../testing/arbitrary.ts';
import { Block } from './block.ts';
import { BlockWriter, INTERVAL_ITEMS } from './block-writer.ts';
import { bloomHash, bloomOf, mayContain } from './bloom.ts';
import { ByteReader, Malformed } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { checksum } from './checksum.ts';
import { PART_BYTES_MAX, partsOf, readPart } from './log-parts.ts';
import { readRecord, recordBytes } from './log-record.ts';
import { readManifest, writeManifest } from './manifest-bytes.ts';
import { sealed } from './sealed.ts';
import { readRowBody, writeRowBody } from './stored-value.ts';
import { TableIndex, TableIndexWriter } from './table-index.ts';

test('checksum() is xxHash32', () => {
  const of = (text: string): number => checksum(utf8Bytes(text));
  expect(of('')).toBe(0x02cc5d05);
  expect(of('a')).toBe(0x550d7456);
  expect(of('abc')).toBe(0x32d153ff);
  expect(of('Nobody inspects the spammish repetition')).toBe(0xe2293b2f);
});

test('checksum() does not depend on the memory offset of the bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(7), (bytes, offset) => {
      const moved = new Uint8Array(offset + bytes.length + 1);
      moved.set(bytes, offset);
      expect(checksum(moved.subarray(offset), bytes.length)).toBe(checksum(bytes));
    }),
  );
});

test('number() preserves every safe integer', () => {
  fc.assert(
    fc.property(fc.array(fc.maxSafeNat()), (numbers) => {
      const out = new ByteWriter();
      for (const number of numbers) out.number(number);
      const reader = new ByteReader(out.view());
      expect(numbers.map(() => reader.number())).toEqual(numbers);
      expect(reader.isAtEnd).toBe(true);
    }),
  );
});

test('a writer grows for whatever is appended', () => {
  const appends: ((out: ByteWriter) => void)[] = [
    (out) => out.byte(1),
    (out) => out.number(Number.MAX_SAFE_INTEGER),
    (out) => out.uint32(0xfffefdfc),
    (out) => out.append(Uint8Array.of(1, 2, 3)),
    (out) => out.raw('abc'),
    (out) => out.utf8('a\u{10ffff}€'.repeat(3)),
  ];
  for (const append of appends) {
    const roomy = new ByteWriter();
    append(roomy);
    for (let capacity = 0; capacity < roomy.length; capacity += 1) {
      const out = new ByteWriter(capacity);
      append(out);
      expect(out.view()).toEqual(roomy.view());
    }
  }
});

test('readRowBody() returns the row given to writeRowBody()', () => {
  fc.assert(
    fc.property(anyRow, (row) => {
      const out = new ByteWriter();
      writeRowBody(out, row);
      expect(readRowBody(row.key, out.view())).toEqual(row);
    }),
  );
});

test('a block returns its items, and seek() finds the interval of each', () => {
  fc.assert(
    fc.property(anyFamily, fc.nat(), anyItems, (family, newest, items) => {
      const block = blockOf(family, newest, items);
      const read = Array.from({ length: block.intervals }, (_, i) => block.read(i));
      const isPair = family === 1 || family === 3;
      expect(block.newest).toBe(newest);
      expect(read.flatMap(({ keys }) => keys)).toEqual(items.map(({ key }) => key));
      expect(read.flatMap(({ owners }) => owners)).toEqual(
        items.map(({ owner }) => (isPair ? owner : '')),
      );
      expect(read.flatMap((each) => each.keys.map((_, at) => block.body(each, at)))).toEqual(
        items.map(({ body }) => body),
      );
      for (const [at, { key, owner: itemOwner, body }] of items.entries()) {
        const owner = isPair ? itemOwner : '';
        expect(block.seek(key, owner)).toBe(Math.floor(at / INTERVAL_ITEMS));
        const found = block.floor(key, owner);
        expect(found).toMatchObject({ ordinal: at, isEqual: true });
        expect(found && block.bodyOf(found)).toEqual(body);
        const after = `${key}\0`;
        const isThere = items.some(
          (each) => each.key === after && (!isPair || each.owner === itemOwner),
        );
        expect(block.floor(after, owner)).toMatchObject({ isEqual: isThere });
      }
      expect(block.floor('', '')).toBeUndefined();
    }),
  );
});

/** Texts of few letters with long common prefixes. Some prefixes are too long for a length of one byte. */
const anyAlike = fc
  .tuple(
    fc.constantFrom('', 'a'.repeat(126), 'a'.repeat(130)),
    fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 4 }),
  )
  .map(([start, end]) => start + end);
const anyPlace = fc.record({ key: anyAlike, owner: anyAlike });

test('floor() finds the last item at or before a position, whatever prefix they share', () => {
  const body = fc.option(fc.uint8Array({ maxLength: 200 }), { nil: undefined });
  const selector = ({ key, owner }: ItemKey) => `${key} ${owner}`;
  const someItems = fc.uniqueArray(fc.tuple(anyPlace, body), {
    selector: ([place]) => selector(place),
    minLength: 1,
    maxLength: 60,
  });
  fc.assert(
    fc.property(someItems, fc.array(anyPlace, { maxLength: 20 }), (given, places) => {
      const items = given
        .map(([place, bytes]) => ({ ...place, body: bytes }))
        .toSorted(compareItemKeys);
      const block = blockOf(1, 7, items);
      for (const place of [...places, ...items]) {
        const at = items.findLastIndex((each) => compareItemKeys(each, place) <= 0);
        const item = items[at];
        const found = block.floor(place.key, place.owner);
        expect(found?.ordinal ?? -1).toBe(at);
        expect(found?.isEqual ?? false).toBe(
          item !== undefined && selector(item) === selector(place),
        );
        expect(found && block.bodyOf(found)).toEqual(item?.body);
      }
    }),
  );
});

test('floor() throws Malformed for an item that ends beyond its block', () => {
  const bytes = blockBytes(0, 7, [{ key: 'a', owner: '', body: new Uint8Array(9) }]);
  const item = bytes.indexOf(10);
  const changed = bytes.slice(0, -4);
  changed[item] = 60;
  const out = new ByteWriter();
  out.append(changed);
  expect(() => new Block(sealed(out.view())).floor('b', '')).toThrow(Malformed);
});

test('a block, a part or a table index with a changed byte is malformed', () => {
  const stored = [
    blockBytes(0, 7, [{ key: 'a', owner: '', body: new Uint8Array(9) }]),
    partsOf(new Uint8Array(20))[0] ?? new Uint8Array(),
    indexBytes(),
  ];
  const readers = [(b: Uint8Array) => new Block(b), readPart, (b: Uint8Array) => new TableIndex(b)];
  for (const [i, bytes] of stored.entries()) {
    readers[i]?.(bytes);
    for (const at of bytes.keys()) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ 0x10;
      expect(() => readers[i]?.(changed)).toThrow(Malformed);
    }
    expect(() => readers[i]?.(bytes.subarray(0, bytes.length - 1))).toThrow(Malformed);
    expect(() => readers[i]?.(new Uint8Array())).toThrow(Malformed);
  }
});

test('a format, a family and a kind that this build does not know are malformed', () => {
  const block = blockBytes(0, 7, []).subarray(0, -4);
  for (const [at, byte] of [2, 8].entries()) {
    const changed = block.slice();
    changed[at] = byte;
    expect(() => new Block(sealed(changed))).toThrow(Malformed);
  }
  // Of a record: its kind, and the family of a change and of a manifest.
  for (const bytes of [[4], [1, 16, 0, 0], [1, 2, 0, 0], [3, 0, 0, 0, 1, 8, 0]])
    expect(() => readRecord(Uint8Array.from(bytes))).toThrow(Malformed);
});

test('a Bloom filter contains all its keys, and few others', () => {
  const keys = Array.from({ length: 5000 }, (_, i) => `key ${i}`);
  const bloom = bloomOf(keys.map(bloomHash));
  expect(keys.every((key) => mayContain(bloom, bloomHash(key)))).toBe(true);
  const wrong = keys.filter((key) => mayContain(bloom, bloomHash(`no ${key}`))).length;
  expect(wrong).toBeLessThan(150);
  expect(mayContain(new Uint8Array(), bloomHash('a'))).toBe(true);
});

test('a table index finds the block of each key', () => {
  const index = new TableIndex(indexBytes());
  expect(index.blocks).toBe(100);
  expect(index.span(0)).toEqual({ first: 0, last: 1 });
  expect(index.span(99)).toEqual({ first: 198, last: 199 });
  expect(index.blockOf('0', '')).toBe(0);
  for (let i = 0; i < 100; i += 1) {
    expect(index.blockOf(fenceOf(i), '')).toBe(i);
    expect(index.blockOf(`${fenceOf(i)}x`, '')).toBe(i);
  }
  expect(index.mayContain('there')).toBe(true);
});

test('readManifest() returns the manifest given to writeManifest()', () => {
  fc.assert(
    fc.property(anyManifest, (manifest) => {
      const out = new ByteWriter();
      writeManifest(out, manifest);
      expect(readManifest(new ByteReader(out.view()))).toEqual(manifest);
    }),
  );
});

test('readRecord() returns the record given to recordBytes(), whole or in parts', () => {
  fc.assert(
    fc.property(anyRecord, (record) => {
      const bytes = recordBytes(record);
      const parts = partsOf(bytes).map(readPart);
      expect(parts.every(({ index, count }, at) => index === at && count === parts.length)).toBe(
        true,
      );
      expect(readRecord(joinBytes(parts.map(({ piece }) => piece)))).toEqual(record);
    }),
  );
  const large = Uint8Array.from({ length: 3 * PART_BYTES_MAX + 1 }, (_, i) => i & 0xff);
  expect(partsOf(large)).toHaveLength(4);
  expect(joinBytes(partsOf(large).map((part) => readPart(part).piece))).toEqual(large);
});

test('the stored bytes of records, a block, a table index and a hash stay the same', () => {
  const record = recordBytes({
    kind: 'commit',
    changes: [
      {
        space: 'documents',
        key: keyOfBytes('k'),
        row: { key: keyOfBytes('k'), entries: ['e1', 'e2'].map(keyOfBytes), value: 'é' },
        ended: [keyOfBytes('e0')],
      },
      { space: 'meta', key: keyOfBytes('m'), row: undefined, ended: [] },
    ],
  });
  expect(hexOf(record)).toBe('0101016b010265300b020002653101013200c3a90a016d00');
  const table = {
    first: 2 ** 20,
    index: 2,
    indexParts: 1,
    items: 3,
    bytes: 400,
    low: { key: 'a', owner: 'o1' },
    high: { key: 'b', owner: 'o2' },
  };
  const run = { level: 2, isMerging: true, tables: [table] };
  const families = familiesOf((family) => (family === 1 ? [run] : []));
  const retired = [{ first: 2 ** 21, last: 2 ** 21 + 3 }];
  const manifest = { flushed: 5, swept: 4, families, retired };
  expect(hexOf(recordBytes({ kind: 'flip', manifest }))).toBe(
    '030504018080800103010101050180804002010390030161026f310162026f32',
  );
  expect(hexOf(recordBytes({ kind: 'claim' }))).toBe('02');
  const index = new TableIndexWriter(1, 300);
  index.addBlock('ab', 'o1', 0);
  expect(hexOf(index.finish(2, ['ab', 'ac'].map(bloomHash)))).toBe(
    '0313f68c0100020101ac020002616200026f31010400000001000000e80a34b2de18e94a',
  );
  const block = blockBytes(1, 300, [
    { key: 'ab', owner: 'o1', body: new Uint8Array() },
    { key: 'ac', owner: 'o2', body: undefined },
  ]);
  expect(hexOf(block.subarray(0, -4))).toBe(
    '0101ac020002616200026f3101010163010132000400000001000000',
  );
  expect(bloomHash('burrow')).toBe(0x2337f7e2);
});

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

interface Item extends ItemKey {
  readonly body: Uint8Array | undefined;
}

function blockBytes(family: 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7, newest: number, items: readonly Item[]) {
  const writer = new BlockWriter(family, newest);
  for (const { key, owner, body } of items.toSorted(compareItemKeys)) writer.add(key, owner, body);
  return writer.finish();
}

const blockOf = (...asked: Parameters<typeof blockBytes>): Block => new Block(blockBytes(...asked));

const fenceOf = (i: number): string => `k${String(i).padStart(4, '0')}`;

function indexBytes(): Uint8Array {
  const writer = new TableIndexWriter(0, 1);
  for (let i = 0; i < 100; i += 1) writer.addBlock(fenceOf(i), '', 2 * i);
  return writer.finish(200, [bloomHash('there')]);
}
