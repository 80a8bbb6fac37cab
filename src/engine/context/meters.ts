/** Counts what one execution of a query reads and writes. Spec: auth 4.5. */
import type { Key } from '../../codec/key.ts';
import { Refusal } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { Micros } from '../../values/value.ts';
import type { Steps } from './budget.ts';

const READ_OP_BYTES = 4096;
const WRITE_OP_BYTES = 1024;

interface SetWork {
  scannedEntries: number;
  openedSets: number;
}

const opsOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / READ_OP_BYTES));

const NO_NOTICES: readonly string[] = [];

export class Meters {
  readBytes = 0;
  /** Index entries and documents that sets went through, and the number of sets opened, including nested sets. */
  work: SetWork = { scannedEntries: 0, openedSets: 0 };
  writeBytes = 0;
  /** Messages for the caller of a write that are not part of its result. */
  notices: readonly string[] = NO_NOTICES;
  /** Part of the query ran with other permissions than the caller's: a function with a role of its own was called. */
  hasOtherRights = false;
  /** The latest past time that the query read at. Times in the future are not counted. */
  past: Micros = 0;
  readonly budget: Pick<Steps, 'spend' | 'isSpent'>;
  private wholeOps = 0;
  private readonly shown: { bytes: number }[] = [];
  private readonly read = new Set<string>();
  private readonly written = new Map<Key, number>();

  /** @param budget charged for the entries that sets go through */
  constructor(budget: Pick<Steps, 'spend' | 'isSpent'>) {
    this.budget = budget;
  }

  /** Counts index entries or documents that a set is about to go through. @throws Refusal `limit_exceeded` for too many */
  countEntries(count: number): void {
    this.work.scannedEntries += count;
    if (this.work.scannedEntries <= LIMITS.scanMax) return;
    throw new Refusal(
      'limit_exceeded',
      `The query reads more than the limit of ${LIMITS.scanMax} set entries.`,
    );
  }

  /** Counts a document that the query reads. `what` identifies the read: a repeated read with the same `what` is free. */
  countRead(what: string, bytes: number, partitions = 1): void {
    const { size } = this.read;
    if (this.read.add(what).size === size) return;
    this.readBytes += bytes;
    this.wholeOps += opsOf(bytes) + partitions - 1;
  }

  /**
   * For a set of which the caller sees only a part. Only the bytes of members shown are counted: counting everything that was read would
   * reveal the size of the rest.
   * @returns a function to call with the bytes of each member shown
   */
  openShown(): (bytes: number) => void {
    const set = { bytes: 0 };
    this.shown.push(set);
    return (bytes) => {
      set.bytes += bytes;
      this.readBytes += bytes;
    };
  }

  get readOps(): number {
    return this.shown.reduce((sum, { bytes }) => sum + opsOf(bytes), this.wholeOps);
  }

  addNotice(text: string): void {
    this.notices = [...this.notices, text];
  }

  /**
   * Counts a document that the query writes: the bytes of its current version and its entries. @throws Refusal `bad request` for too many
   */
  countWrite(key: Key, bytes: number): void {
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

/** Meters of predicates. They limit the work but do not count reads: the number of reads would reveal hidden documents. */
export class IsolatedMeters extends Meters {
  /**
   * @param work counters of the query that this evaluation is part of. Default: new counters, because predicates are not charged to the
   * caller
   */
  constructor(budget: Pick<Steps, 'spend' | 'isSpent'>, work?: SetWork) {
    super(budget);
    if (work) this.work = work;
  }

  /** Starts the next predicate. */
  begin(): void {
    this.work = { scannedEntries: 0, openedSets: 0 };
  }

  override openShown(): (bytes: number) => void {
    return () => undefined;
  }

  override countRead(): void {
    // Not counted.
  }
}
