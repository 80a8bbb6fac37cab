/** Records of the log: commits, claims of block ids, and flips to another manifest. */
import { type Key, keyOfBytes } from '../../codec/key.ts';
import type { Row, Space } from '../../store/port.ts';
import { rowFamily, spaceOfRows, isFamily } from '../families.ts';
import type { Manifest } from '../manifest.ts';
import { Malformed, ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { readManifest, writeManifest } from './manifest-bytes.ts';
import { readRowBody, writeRowBody } from './stored-value.ts';

/** The change of one row in a commit. */
export interface Change {
  readonly space: Space;
  readonly key: Key;
  /** Undefined: the row is deleted. */
  readonly row: Row | undefined;
  /** Index entries that the row had before and no longer has. */
  readonly ended: readonly Key[];
}

export type LogRecord =
  | { readonly kind: 'commit'; readonly changes: readonly Change[] }
  /** Reserves for its writer the block ids that begin with the record's number: see `IDS_PER_CLAIM`. */
  | { readonly kind: 'claim' }
  | { readonly kind: 'flip'; readonly manifest: Manifest };

/** A used number never gets another meaning. */
const KIND = { commit: 1, claim: 2, flip: 3 } as const;

/** Used again for each record, because fresh memory is slow: most commits are small. */
const out = new ByteWriter();
const body = new ByteWriter();

/** The bytes are valid until the next call. */
export function recordBytes(record: LogRecord): Uint8Array {
  out.clear();
  out.byte(KIND[record.kind]);
  if (record.kind === 'flip') writeManifest(out, record.manifest);
  if (record.kind === 'commit') record.changes.forEach(writeChange);
  return out.view();
}

/** @throws Malformed */
export function readRecord(bytes: Uint8Array): LogRecord {
  const reader = new ByteReader(bytes);
  switch (reader.byte()) {
    case KIND.commit: {
      const changes: Change[] = [];
      while (!reader.isAtEnd) changes.push(readChange(reader));
      return { kind: 'commit', changes };
    }
    case KIND.claim:
      return { kind: 'claim' };
    case KIND.flip:
      return { kind: 'flip', manifest: readManifest(reader) };
    default:
      throw new Malformed('its kind is unknown');
  }
}

function writeChange({ space, key, row, ended }: Change): void {
  out.number(rowFamily(space) * 2 + (row ? 1 : 0));
  out.delimited(key);
  out.number(ended.length);
  for (const entry of ended) out.delimited(entry);
  if (!row) return;
  body.clear();
  writeRowBody(body, row);
  out.number(body.length);
  out.append(body.view());
}

function readChange(reader: ByteReader): Change {
  const familyAndPut = reader.number();
  const family = familyAndPut >>> 1;
  const space = isFamily(family) ? spaceOfRows(family) : undefined;
  if (space === undefined) throw new Malformed('it has an unknown family');
  const key = keyOfBytes(reader.delimited());
  const ended: Key[] = [];
  for (let count = reader.number(); count > 0; count -= 1)
    ended.push(keyOfBytes(reader.delimited()));
  const isPut = familyAndPut % 2 === 1;
  const row = isPut ? readRowBody(key, reader.take(reader.number())) : undefined;
  return { space, key, row, ended };
}
