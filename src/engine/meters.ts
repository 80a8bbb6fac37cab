/** Counts what one attempt reads and writes. Spec: auth 4.5. */
import type { Key } from '../codec/key.ts';
import { Refusal } from '../errors.ts';
import { LIMITS } from '../limits.ts';

const READ_OP_BYTES = 4096;
const WRITE_OP_BYTES = 1024;

export class Meters {
  readOps = 0;
  readBytes = 0;
  /** Index entries and documents that sets went through. */
  scannedEntries = 0;
  /** Sets opened, with those they are made of. */
  openedSets = 0;
  writeBytes = 0;
  private readonly read = new Set<string>();
  private readonly written = new Map<Key, number>();

  /** A document asked for by the query. `what` tells reads apart: a second one of the same is free. */
  noteRead(what: string, bytes: number, partitions = 1): void {
    if (this.read.has(what)) return;
    this.read.add(what);
    this.readBytes += bytes;
    this.readOps += Math.max(1, Math.ceil(bytes / READ_OP_BYTES)) + partitions - 1;
  }

  /** Bytes read that count as no operation: by writes, schema, identity. */
  noteUncounted(bytes: number): void {
    this.readBytes += bytes;
  }

  /** A document touched: bytes of its version and entries as they now stand. @throws Refusal `bad request` for too many */
  noteWrite(key: Key, bytes: number): void {
    this.writeBytes += bytes - (this.written.get(key) ?? 0);
    this.written.set(key, bytes);
    if (this.written.size > LIMITS.transactionDocuments) refuseDocuments();
  }

  get writeOps(): number {
    let sum = 0;
    for (const bytes of this.written.values()) sum += Math.ceil(bytes / WRITE_OP_BYTES);
    return sum;
  }
}

function refuseDocuments(): never {
  throw new Refusal(
    'bad request',
    `Transaction size exceeds the limit of ${LIMITS.transactionDocuments} documents.`,
  );
}

/** For predicates of roles: what they read is the work of nobody who asks, and how much it was would tell of what is not shown. */
export class MetersAside extends Meters {
  /** The next predicate. */
  begin(): void {
    this.scannedEntries = 0;
    this.openedSets = 0;
  }

  override noteRead(): void {
    // Not counted.
  }

  override noteUncounted(): void {
    // Not counted.
  }
}
