import type { Row, RowAddress, WriteSet, WriteTx } from '../src/store/port.ts';

/** A write transaction that records what it fetched and wrote of one row. Stores use it to watch the head row. */
export class WatchedRow implements WriteTx {
  fetched: Row | undefined = undefined;
  written: Row | undefined = undefined;
  private readonly tx: WriteTx;
  private readonly address: RowAddress;

  constructor(tx: WriteTx, address: RowAddress) {
    this.tx = tx;
    this.address = address;
  }

  async fetch(...request: Parameters<WriteTx['fetch']>): ReturnType<WriteTx['fetch']> {
    const found = await this.tx.fetch(...request);
    const at = request[0].findIndex(({ space, key }) => this.isWatched(space, key));
    if (at >= 0) this.fetched = found.rows[at];
    return found;
  }

  apply(writes: WriteSet): void {
    this.tx.apply(writes);
    for (const { space, row } of writes.puts)
      if (this.isWatched(space, row.key)) this.written = row;
  }

  private isWatched(space: RowAddress['space'], key: RowAddress['key']): boolean {
    return space === this.address.space && key === this.address.key;
  }
}
