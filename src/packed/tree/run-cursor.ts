/** A cursor over one run. */
import { keyOfBytes } from '../../codec/key.ts';
import { firstIndex } from '../../store/binary-search.ts';
import type { Row } from '../../store/port.ts';
import type { Block, Items } from '../codec/block.ts';
import { readRowBody } from '../codec/stored-value.ts';
import type { TableIndex } from '../codec/table-index.ts';
import { readingOf } from '../damage.ts';
import { isEntryFamily } from '../families.ts';
import { compareItemKeys, type ItemKey, type Run, type Table } from '../manifest.ts';
import type { BlockAccess } from './block-access.ts';
import type { Cursor, Span } from './cursor.ts';

/** Maximum number of bytes that are read ahead of a scan. */
const AHEAD_BYTES_MAX = 512 * 1024;

export class RunCursor implements Cursor {
  state: Cursor['state'] = 'item';
  key = '';
  owner = '';
  isDeleted = false;
  private readonly tables: readonly Table[];
  private readonly access: BlockAccess;
  private readonly span: Span;
  /** The key at which the scan begins. */
  private readonly start: ItemKey;
  private readonly step: 1 | -1;
  private tableAt: number;
  private blockAt = 0;
  private intervalAt = 0;
  private index: TableIndex | undefined = undefined;
  private block: Block | undefined = undefined;
  private items: Items = NO_ITEMS;
  private at = -1;

  constructor(run: Run, access: BlockAccess, span: Span) {
    this.tables = run.tables;
    this.access = access;
    this.span = span;
    const { lower, upper, reverse, after } = span;
    this.step = reverse ? -1 : 1;
    this.start = after ?? { key: reverse ? upper : lower, owner: '' };
    this.tableAt = reverse ? this.lastTable() : this.firstTable();
    this.enterTable(true);
    while (this.state === 'item' && this.isBeforeStart()) this.next();
  }

  next(): void {
    this.at += this.step;
    if (this.items.keys[this.at] === undefined) this.nextInterval();
    else this.show();
  }

  row(): Row | undefined {
    const body = this.body();
    if (!body || !this.block || isEntryFamily(this.block.family)) return undefined;
    return readingOf(
      () => `a row in table ${this.tables[this.tableAt]?.first}`,
      () => readRowBody(keyOfBytes(this.key), body),
    );
  }

  /** The body of the current item. Undefined if it is deleted. */
  body(): Uint8Array | undefined {
    return this.block?.body(this.items, this.at);
  }

  private isBeforeStart(): boolean {
    const order = compareItemKeys(this, this.start);
    if (this.span.reverse) return order >= 0;
    return this.span.after ? order <= 0 : order < 0;
  }

  private firstTable(): number {
    const { tables, start } = this;
    return firstIndex(tables.length, (i) => {
      const table = tables[i];
      return table !== undefined && compareItemKeys(table.high, start) < 0;
    });
  }

  private lastTable(): number {
    const { tables, start } = this;
    const behind = firstIndex(tables.length, (i) => {
      const table = tables[i];
      return table !== undefined && compareItemKeys(table.low, start) < 0;
    });
    return behind - 1;
  }

  /** @param isStart whether the table contains the start of the scan */
  private enterTable(isStart: boolean): void {
    const table = this.tables[this.tableAt];
    if (!table || this.isOutside(table)) {
      this.state = 'end';
      return;
    }
    this.index = this.access.index(table);
    if (!this.index) {
      this.state = 'missing';
      return;
    }
    const { terms } = this.span;
    if (terms !== undefined && !this.index.mayContain(terms)) {
      this.tableAt += this.step;
      this.enterTable(false);
      return;
    }
    const { key, owner } = this.start;
    if (isStart) this.blockAt = this.index.blockOf(key, owner);
    else this.blockAt = this.step > 0 ? 0 : this.index.blocks - 1;
    this.enterBlock(table, isStart);
  }

  private enterBlock(table: Table, isStart: boolean): void {
    const { index, start } = this;
    this.block = index && this.access.block(table, index, this.blockAt);
    if (!this.block) {
      this.readAhead(table);
      this.state = 'missing';
      return;
    }
    if (isStart) this.intervalAt = this.block.seek(start.key, start.owner);
    else this.intervalAt = this.step > 0 ? 0 : this.block.intervals - 1;
    this.enterInterval();
  }

  private enterInterval(): void {
    const { block, intervalAt } = this;
    this.items = block
      ? readingOf(
          () => `a block of table ${this.tables[this.tableAt]?.first}`,
          () => block.read(intervalAt),
        )
      : NO_ITEMS;
    this.at = this.step > 0 ? 0 : this.items.keys.length - 1;
    this.show();
  }

  private nextInterval(): void {
    const table = this.tables[this.tableAt];
    this.intervalAt += this.step;
    if (this.block && this.intervalAt >= 0 && this.intervalAt < this.block.intervals)
      return this.enterInterval();
    this.blockAt += this.step;
    if (table && this.index && this.blockAt >= 0 && this.blockAt < this.index.blocks)
      return this.enterBlock(table, false);
    this.tableAt += this.step;
    this.enterTable(false);
  }

  private show(): void {
    const { items, at } = this;
    this.key = items.keys[at] ?? '';
    this.owner = items.owners[at] ?? '';
    this.isDeleted = (items.from[at] ?? -1) < 0;
    const { lower, upper, reverse } = this.span;
    if (reverse ? this.key < lower : this.key >= upper) this.state = 'end';
  }

  private isOutside({ low, high }: Table): boolean {
    const { lower, upper, reverse } = this.span;
    return reverse ? high.key < lower : low.key >= upper;
  }

  /** Notes the next blocks, limited by the range and by the number of items wanted. */
  private readAhead(table: Table): void {
    const { index, span, step } = this;
    if (!index) return;
    const perBlock = Math.max(1, table.items / index.blocks);
    const bytesPerBlock = Math.max(1, table.bytes / index.blocks);
    const count = Math.min(span.items / perBlock, AHEAD_BYTES_MAX / bytesPerBlock);
    const end = step > 0 ? index.blockOf(span.upper, '') : index.blockOf(span.lower, '');
    for (let i = 1; i <= count; i += 1) {
      const at = this.blockAt + i * step;
      if (step > 0 ? at > end : at < end) return;
      this.access.block(table, index, at);
    }
  }
}

const NO_ITEMS: Items = { keys: [], owners: [], from: [], to: [] };
