/**
 * Test kit: reads the log and the blocks of a packed database without a store. It lists every remaining version of
 * every row, and can add a commit.
 */
import { joinBytes } from '../../codec/join-bytes.ts';
import type { Block } from '../codec/block.ts';
import { partsOf, readPart } from '../codec/log-parts.ts';
import { readRecord, recordBytes } from '../codec/log-record.ts';
import { readRowBody } from '../codec/stored-value.ts';
import { keyOfBytes } from '../../codec/key.ts';
import { spaceOfRows } from '../families.ts';
import { storedBlocks } from '../stored-blocks.ts';
import { createMemoryMedium, MediumData } from './memory-medium.ts';
import type { Row, Space } from '../../store/port.ts';

/** An object of the object stores `commits` or `blocks`. */
export interface StoredBytes {
  readonly number: number;
  readonly bytes: Uint8Array;
}

export interface RowVersion {
  readonly space: Space;
  readonly row: Row;
}

/** @throws Error for stored bytes that belong to no row, entry, claim or manifest */
export async function rowVersions(
  log: readonly StoredBytes[],
  blocks: readonly StoredBytes[],
): Promise<RowVersion[]> {
  return [...versionsInLog(log), ...(await versionsInBlocks(blocks))];
}

function* versionsInLog(log: readonly StoredBytes[]): Generator<RowVersion> {
  let pieces: Uint8Array[] = [];
  for (const { bytes } of log) {
    if (bytes.length === 0) continue;
    const { count, piece } = readPart(bytes);
    pieces.push(piece);
    if (pieces.length < count) continue;
    const record = readRecord(joinBytes(pieces));
    pieces = [];
    if (record.kind !== 'commit') continue;
    for (const { space, row } of record.changes) if (row) yield { space, row };
  }
}

async function versionsInBlocks(blocks: readonly StoredBytes[]): Promise<RowVersion[]> {
  const data = new MediumData();
  data.putBlocks(blocks.map(({ number: id, bytes }) => ({ id, bytes })));
  const versions: RowVersion[] = [];
  const damaged: string[] = [];
  for await (const { block } of storedBlocks(createMemoryMedium(data), (what) =>
    damaged.push(what),
  ))
    versions.push(...versionsIn(block));
  if (damaged.length > 0) throw new Error(`Damaged: ${damaged.join(', ')}.`);
  return versions;
}

function versionsIn(block: Block): RowVersion[] {
  const space = spaceOfRows(block.family);
  // Entry families are skipped: each entry is also in its row.
  if (space === undefined) return [];
  const versions: RowVersion[] = [];
  for (let interval = 0; interval < block.intervals; interval += 1) {
    const items = block.read(interval);
    for (const [at, key] of items.keys.entries()) {
      const body = block.body(items, at);
      if (body) versions.push({ space, row: readRowBody(keyOfBytes(key), body) });
    }
  }
  return versions;
}

/** The log parts of a commit that writes this row. */
export const partsOfCommit = ({ space, row }: RowVersion): Uint8Array[] =>
  partsOf(recordBytes({ kind: 'commit', changes: [{ space, key: row.key, row, ended: [] }] }));
