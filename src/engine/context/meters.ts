/** Counts what one attempt reads and writes. Spec: auth 4.5. */
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
  /** Index entries and documents that sets went through, and sets opened, with those they are made of. */
  work: SetWork = { scannedEntries: 0, openedSets: 0 };
  writeBytes = 0;
  /** What the writer should know, though it is no part of the result. */
  notices: readonly string[] = NO_NOTICES;
  /** Part of it ran with rights that are not the caller's: those of a function with a role of its own. */
  hasOtherRights = false;
  /** The latest time that it read at, of those that are not in the future. */
  past: Micros = 0;
  readonly budget: Pick<Steps, 'spend' | 'isSpent'>;
  private wholeOps = 0;
  private readonly shown: { bytes: number }[] = [];
  private readonly read = new Set<string>();
  private readonly written = new Map<Key, number>();

  /** @param budget pays for what sets go through */
  constructor(budget: Pick<Steps, 'spend' | 'isSpent'>) {
    this.budget = budget;
  }

  /** Index entries or documents that a set is about to go through. @throws Refusal `limit_exceeded` for too many */
  countEntries(count: number): void {
    this.work.scannedEntries += count;
    if (this.work.scannedEntries <= LIMITS.scanMax) return;
    throw new Refusal(
      'limit_exceeded',
      `The query reads more than the limit of ${LIMITS.scanMax} set entries.`,
    );
  }

  /** A document that the query reads. `what` identifies the read: a second one of the same is free. */
  countRead(what: string, bytes: number, partitions = 1): void {
    const { size } = this.read;
    if (this.read.add(what).size === size) return;
    this.readBytes += bytes;
    this.wholeOps += opsOf(bytes) + partitions - 1;
  }

  /**
   * A set of which the caller is shown a part: only that counts, for how much was read would tell of the rest.
   * @returns what to tell of the bytes of each member shown
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

  /** A document written: bytes of its present version and entries. @throws Refusal `bad request` for too many */
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

/** Bounds the work, and counts no reads: how much they were would tell of what is not shown. */
export class IsolatedMeters extends Meters {
  /** @param work of the query that this is part of; its own when left out: predicates are not charged to the caller */
  constructor(budget: Pick<Steps, 'spend' | 'isSpent'>, work?: SetWork) {
    super(budget);
    if (work) this.work = work;
  }

  /** The next predicate. */
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
