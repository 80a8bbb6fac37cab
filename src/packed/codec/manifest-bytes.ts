/** Writes and reads a manifest. */
import { ALL_FAMILIES, isFamily } from '../families.ts';
import {
  familiesOf,
  type IdRange,
  type ItemKey,
  type Manifest,
  type Run,
  type Table,
} from '../manifest.ts';
import { Malformed, type ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';

export function writeManifest(out: ByteWriter, manifest: Manifest): void {
  out.number(manifest.flushed);
  out.number(manifest.swept);
  writeList(out, manifest.retired, ({ first, last }) => {
    out.number(first);
    out.number(last - first);
  });
  const families = ALL_FAMILIES.filter((family) => manifest.families[family].length > 0);
  writeList(out, families, (family) => {
    out.number(family);
    writeList(out, manifest.families[family], (run) => writeRun(out, run));
  });
}

/** @throws Malformed */
export function readManifest(reader: ByteReader): Manifest {
  const flushed = reader.number();
  const swept = reader.number();
  const retired = readList(reader, (): IdRange => {
    const first = reader.number();
    return { first, last: first + reader.number() };
  });
  const families: Record<number, readonly Run[]> = familiesOf(() => []);
  readList(reader, () => {
    const family = reader.number();
    if (!isFamily(family)) throw new Malformed('it has an unknown family');
    families[family] = readList(reader, () => readRun(reader));
  });
  return { flushed, swept, retired, families: familiesOf((family) => families[family] ?? []) };
}

function writeRun(out: ByteWriter, { level, isMerging, tables }: Run): void {
  out.number(level * 2 + (isMerging ? 1 : 0));
  writeList(out, tables, (table) => {
    const { first, index, indexParts, items, bytes, low, high } = table;
    for (const number of [first, index, indexParts, items, bytes]) out.number(number);
    for (const text of [low.key, low.owner, high.key, high.owner]) out.delimited(text);
  });
}

function readRun(reader: ByteReader): Run {
  const levelAndMerging = reader.number();
  return {
    level: levelAndMerging >>> 1,
    isMerging: levelAndMerging % 2 === 1,
    tables: readList(reader, () => readTable(reader)),
  };
}

function readTable(reader: ByteReader): Table {
  return {
    first: reader.number(),
    index: reader.number(),
    indexParts: reader.number(),
    items: reader.number(),
    bytes: reader.number(),
    low: readItemKey(reader),
    high: readItemKey(reader),
  };
}

const readItemKey = (reader: ByteReader): ItemKey => ({
  key: reader.delimited(),
  owner: reader.delimited(),
});

function writeList<T>(out: ByteWriter, list: readonly T[], write: (each: T) => void): void {
  out.number(list.length);
  for (const each of list) write(each);
}

function readList<T>(reader: ByteReader, read: () => T): T[] {
  const list: T[] = [];
  for (let count = reader.number(); count > 0; count -= 1) list.push(read());
  return list;
}
