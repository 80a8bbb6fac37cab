/** Brings out what can be read when the manifest, or anything else, is damaged. */
import { keyOfBytes, type Key } from '../codec/key.ts';
import type { Row, Space } from '../store/port.ts';
import { Block } from './codec/block.ts';
import { Malformed } from './codec/byte-reader.ts';
import { joined, readPart, type Part } from './codec/log-parts.ts';
import { readRecord } from './codec/log-record.ts';
import { readRowBody } from './codec/stored-value.ts';
import { TableIndex } from './codec/table-index.ts';
import { spaceOfRows } from './families.ts';
import type { LogPart, Medium, StoredBlock } from './medium.ts';

export interface Salvaged {
  /** The newest version of each row that could be read. Rows that were deleted long ago may be among them. */
  readonly rows: ReadonlyMap<Space, ReadonlyMap<Key, Row>>;
  /** What could not be read. */
  readonly damaged: readonly string[];
}

const BLOCKS_AT_A_TIME = 64;

export async function salvage(medium: Medium): Promise<Salvaged> {
  const found = new SalvagedRows();
  for (let after = -1; ;) {
    const range = { first: after + 1, last: Number.MAX_SAFE_INTEGER, limit: BLOCKS_AT_A_TIME };
    const [blocks = []] = (await medium.look(undefined, [range])).blocks;
    found.blocks(blocks);
    const last = blocks.at(-1);
    if (!last) break;
    after = last.id;
  }
  found.endBlocks();
  found.log((await medium.look(0, [])).log);
  return found.result();
}

interface Version {
  readonly newest: number;
  readonly row: Row | undefined;
}

class SalvagedRows {
  private readonly damaged: string[] = [];
  private readonly spaces = new Map<Space, Map<Key, Version>>();
  /** Parts of a block whose end has not come. */
  private waiting: StoredBlock[] = [];

  blocks(blocks: readonly StoredBlock[]): void {
    for (const block of blocks) {
      const before = this.waiting.at(-1);
      if (before && block.id !== before.id + 1) this.endBlocks();
      this.waiting.push(block);
      if (this.takeWaiting()) this.waiting = [];
      // What begins here may be whole: then what waits was not the beginning of it.
      else if (this.waiting.length > 1 && this.take(block.bytes)) {
        this.waiting.pop();
        this.endBlocks();
      }
    }
  }

  endBlocks(): void {
    for (const { id } of this.waiting) this.damaged.push(`block ${id}`);
    this.waiting = [];
  }

  log(log: readonly LogPart[]): void {
    let parts: Part[] = [];
    for (const { number, bytes } of log) {
      try {
        const part = readPart(bytes);
        parts = part.index === parts.length ? [...parts, part] : [part];
        if (parts.length < part.count) continue;
        this.record(number, joined(parts.map(({ piece }) => piece)));
      } catch (reason) {
        if (!(reason instanceof Malformed)) throw reason;
        this.damaged.push(`log record ${number}`);
      }
      parts = [];
    }
  }

  result(): Salvaged {
    const rows = new Map<Space, Map<Key, Row>>();
    for (const [space, versions] of this.spaces) {
      const present = [...versions].flatMap(([key, { row }]) => (row ? [[key, row] as const] : []));
      rows.set(space, new Map(present));
    }
    return { rows, damaged: this.damaged };
  }

  private record(number: number, bytes: Uint8Array): void {
    const record = readRecord(bytes);
    if (record.kind !== 'commit') return;
    for (const { space, key, row } of record.changes)
      this.keep(space, key, { newest: number, row });
  }

  private takeWaiting(): boolean {
    return this.take(joined(this.waiting.map(({ bytes }) => bytes)));
  }

  /** Returns false when it is neither a block nor an index. */
  private take(bytes: Uint8Array): boolean {
    try {
      this.rowsOf(new Block(bytes));
      return true;
    } catch (reason) {
      if (!(reason instanceof Malformed)) throw reason;
      return isIndex(bytes);
    }
  }

  private rowsOf(block: Block): void {
    const space = spaceOfRows(block.family);
    if (space === undefined) return;
    for (let interval = 0; interval < block.intervals; interval += 1) {
      const items = block.read(interval);
      for (const [at, raw] of items.keys.entries()) {
        const key = keyOfBytes(raw);
        const body = block.body(items, at);
        const row = body && readRowBody(key, body);
        this.keep(space, key, { newest: block.newest, row });
      }
    }
  }

  private keep(space: Space, key: Key, version: Version): void {
    let versions = this.spaces.get(space);
    if (!versions) this.spaces.set(space, (versions = new Map()));
    const before = versions.get(key);
    if (!before || before.newest <= version.newest) versions.set(key, version);
  }
}

function isIndex(bytes: Uint8Array): boolean {
  try {
    return new TableIndex(bytes).blocks > 0;
  } catch (reason) {
    if (reason instanceof Malformed) return false;
    throw reason;
  }
}
