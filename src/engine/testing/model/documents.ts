/** The documents that a query of the reference model reads and writes. */
import { Fault, type Position } from './casts.ts';
import type { Database } from './database.ts';
import { Doc, DocRef, Silent, type SetOf, type Change, type Fields, type Value } from './values.ts';

/** The time at which reads happen. */
export interface Seen {
  readonly time: number;
  readonly isPast: boolean;
}

export class Documents {
  private readonly database: Database;
  /** The times at which the query reads and writes. */
  private snapshot = 0;
  private commitTs = 0;

  constructor(database: Database) {
    this.database = database;
  }

  get present(): Seen {
    return { time: this.commitTs, isPast: false };
  }

  /** Runs `body` and undoes its writes if it throws. */
  transact<T>(snapshot: number, body: () => T): T {
    this.snapshot = snapshot;
    this.commitTs = snapshot + 1;
    this.database.snapshot = snapshot;
    const before = this.database.state();
    try {
      return body();
    } catch (reason) {
      this.database.restore(before);
      throw reason;
    }
  }

  get(target: DocRef | SetOf, time: number): Doc | undefined {
    const found = target instanceof DocRef ? target : target.tuplesAt(time)[0]?.ref;
    const version = found && this.database.versionAt(found, time);
    return found && version && new Doc(found, version.ts, version.fields);
  }

  write(target: DocRef, { data, ttl }: Fields, at: Position, clash: Position): Doc {
    const fields = { data: data && data.size > 0 ? data : undefined, ttl };
    this.database.write(target, this.commitTs, fields);
    for (const index of this.database.indexes) {
      if (!index.unique || index.collection !== target.collection) continue;
      if (this.database.isTaken(target, index, this.commitTs))
        throw new Fault('instance not unique', clash);
    }
    return this.get(target, this.commitTs) ?? missing(at);
  }

  end(target: DocRef): void {
    this.database.write(target, this.commitTs, 'deleted');
  }

  changesOf(tuplesAt: SetOf['tuplesAt']): readonly Change[] {
    return this.database.changesOf(tuplesAt);
  }

  setOf(name: string, terms: readonly Value[]): SetOf {
    const index = this.database.indexes.find((each) => each.name === name);
    if (!index) throw new Silent('no such index');
    return this.database.match(index, terms);
  }

  documentsOf(collection: string): SetOf {
    return this.database.documentsOf(collection);
  }

  /** What reads inside `at` see: the present if `ts` is not in the past. */
  seenAt(ts: number): Seen {
    const isPast = ts < this.snapshot;
    return { time: isPast ? ts : this.commitTs, isPast };
  }
}

export const missing = (at: Position): never => {
  throw new Fault('instance not found', at);
};
