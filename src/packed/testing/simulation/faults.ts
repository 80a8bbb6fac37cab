/** Planted faults that the simulation must detect. */
import { Block } from '../../codec/block.ts';
import { BlockWriter } from '../../codec/block-writer.ts';
import { ByteReader, Malformed } from '../../codec/byte-reader.ts';
import { checksum } from '../../codec/checksum.ts';
import { TableIndex } from '../../codec/table-index.ts';

export const PLANTED_FAULTS = [
  'the number is not checked',
  'the manifest is stored before the blocks',
  'the log is cut before the flip',
  'the Bloom filter is wrong',
  'the filter of terms is wrong',
  'deletions are dropped too early',
  'the log is cached',
  'ids of blocks are used twice',
  'a flip replaces the commit with its number',
  'adjacent blocks are exchanged',
  'a broadcast has a wrong number',
  'a commit is broadcast before it is stored',
  'a claim that another tab preceded has the number 0',
  'a tab that holds the lease does not read the log after a failed append',
] as const;
export type PlantedFault = (typeof PLANTED_FAULTS)[number];

export function isIndexOrBlock(bytes: Uint8Array): 'index' | 'block' {
  try {
    return new Block(bytes).intervals > 0 ? 'block' : 'index';
  } catch (reason) {
    if (!(reason instanceof Malformed)) throw reason;
    return new TableIndex(bytes).blocks > 0 ? 'index' : 'block';
  }
}

/** Clears the Bloom filter, so that it reports every key as absent. */
export function withoutBloom(index: Uint8Array): Uint8Array {
  const changed = index.slice();
  const reader = new ByteReader(changed);
  reader.take(reader.number()).fill(0);
  const length = changed.length - 4;
  new DataView(changed.buffer).setUint32(length, checksum(changed, length), true);
  return changed;
}

export function hasDeletions(bytes: Uint8Array): boolean {
  if (isIndexOrBlock(bytes) === 'index') return false;
  const block = new Block(bytes);
  return Array.from({ length: block.intervals }, (_, i) => block.read(i)).some(({ from }) =>
    from.includes(-1),
  );
}

export function withoutDeletions(bytes: Uint8Array): Uint8Array {
  const block = new Block(bytes);
  const writer = new BlockWriter(block.family, block.newest);
  for (let interval = 0; interval < block.intervals; interval += 1) {
    const items = block.read(interval);
    for (const [at, key] of items.keys.entries()) {
      const body = block.body(items, at);
      if (body) writer.add(key, items.owners[at] ?? '', body);
    }
  }
  return writer.count > 0 ? writer.finish() : bytes;
}
