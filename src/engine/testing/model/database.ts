/** A database that keeps all versions of documents, and computes sets by examining each document. */
import {
  compare,
  compareRefs,
  Dbl,
  Doc,
  DocRef,
  isList,
  isMembers,
  Page,
  render,
} from './values.ts';
import { SetOf, Silent, type Change, type Fields, type Tuple, type Value } from './values.ts';

export interface Version {
  readonly ts: number;
  /** `deleted`: the document does not exist from this time on. */
  readonly fields: Fields | 'deleted';
}

export interface IndexFields {
  readonly name: string;
  readonly collection: string;
  readonly terms: readonly string[];
  /** Each is a field of `data`, or `ref`. */
  readonly values: readonly { readonly field: string; readonly reverse: boolean }[];
  readonly unique: boolean;
}

export class Database {
  readonly indexes: readonly IndexFields[];
  /** The time of the query. It decides which documents have expired, also for reads at a past time. */
  snapshot = 0;
  private documents: ReadonlyMap<string, readonly Version[]> = new Map();

  constructor(indexes: readonly IndexFields[]) {
    this.indexes = indexes;
  }

  /** The present state. `restore` returns to it. */
  state(): ReadonlyMap<string, readonly Version[]> {
    return this.documents;
  }

  restore(state: ReadonlyMap<string, readonly Version[]>): void {
    this.documents = state;
  }

  /** The newest version not later than `time`. Undefined if the document is deleted or has expired. */
  versionAt(ref: DocRef, time: number): (Version & { readonly fields: Fields }) | undefined {
    const found = (this.documents.get(nameOf(ref)) ?? []).filter(({ ts }) => ts <= time).at(-1);
    if (!found || found.fields === 'deleted') return undefined;
    const { ts, fields } = found;
    return fields.ttl && fields.ttl.micros <= this.snapshot ? undefined : { ts, fields };
  }

  /** Writes a version. There is at most one for each commit. A document that one commit both creates and deletes leaves no version. */
  write(ref: DocRef, ts: number, fields: Version['fields']): void {
    const before = (this.documents.get(nameOf(ref)) ?? []).filter((each) => each.ts < ts);
    const last = before.at(-1);
    const isTraceless = fields === 'deleted' && (!last || last.fields === 'deleted');
    const versions = isTraceless ? before : [...before, { ts, fields }];
    this.documents = new Map([...this.documents, [nameOf(ref), versions]]);
  }

  private refsAt(collection: string, time: number): DocRef[] {
    return [...this.documents.keys()]
      .map(refOf)
      .filter((ref) => ref.collection === collection && this.versionAt(ref, time))
      .sort(compareRefs);
  }

  documentsOf(collection: string): SetOf {
    const tuplesAt = (time: number) =>
      this.refsAt(collection, time).map((ref) => ({ values: undefined, ref }));
    return new SetOf([false], false, tuplesAt, () => this.changesOf(tuplesAt));
  }

  /** The changes between the states after consecutive commits. */
  changesOf(tuplesAt: (time: number) => readonly Tuple[]): readonly Change[] {
    const versions = [...this.documents.values()].flat();
    if (versions.some(({ fields }) => fields !== 'deleted' && fields.ttl))
      throw new Silent('events of what ends');
    const times = [...new Set(versions.map(({ ts }) => ts))].sort((a, b) => a - b);
    return times.flatMap((ts) => {
      const [before, now] = [tuplesAt(ts - 1), tuplesAt(ts)];
      const change = (action: Change['action'], of: readonly Tuple[], other: readonly Tuple[]) =>
        of
          .filter((tuple) => !other.some((each) => isSame(each, tuple)))
          .map((tuple) => ({ ts, action, tuple }));
      return [...change('remove', before, now), ...change('add', now, before)];
    });
  }

  match(index: IndexFields, terms: readonly Value[]): SetOf {
    const flags = [...index.values.map(({ reverse }) => reverse), false];
    const tuplesAt = (time: number) => {
      if (terms.length !== index.terms.length) return [];
      const found = this.refsAt(index.collection, time).flatMap((ref) =>
        this.entries(index, ref, time).filter((entry) => compare(entry.terms, terms) === 0),
      );
      return found.map(({ tuple }) => tuple).sort((a, b) => compareTuples(a, b, flags));
    };
    return new SetOf(flags, false, tuplesAt, () => this.changesOf(tuplesAt));
  }

  /** Whether another document has an entry of this document. */
  isTaken(ref: DocRef, index: IndexFields, time: number): boolean {
    const own = this.entries(index, ref, time);
    return this.refsAt(index.collection, time).some(
      (other) =>
        compareRefs(other, ref) !== 0 &&
        this.entries(index, other, time).some((entry) =>
          own.some(
            (mine) =>
              compare(mine.terms, entry.terms) === 0 &&
              compare(mine.tuple.values ?? [], entry.tuple.values ?? []) === 0,
          ),
        ),
    );
  }

  private entries(index: IndexFields, ref: DocRef, time: number) {
    const data = this.versionAt(ref, time)?.fields.data ?? new Map<string, Value>();
    const listOf = (field: string): Value[] => {
      if (field === 'ref') return [ref];
      const found = elements(data.get(field));
      return found.length === 0 ? [null] : unique(found);
    };
    const isNothing = (list: readonly Value[]) =>
      list.length > 0 && list.every((each) => each === null);
    const allTerms = product(index.terms.map(listOf)).filter((terms) => !isNothing(terms));
    const allValues = product(index.values.map(({ field }) => listOf(field))).filter(
      (values) => !isNothing(values),
    );
    return allTerms.flatMap((terms) =>
      allValues.map((values) => ({
        terms,
        tuple: { values: index.values.length === 0 ? undefined : values, ref },
      })),
    );
  }
}

const isSame = (a: Tuple, b: Tuple): boolean =>
  compareRefs(a.ref, b.ref) === 0 && render(a.values ?? null) === render(b.values ?? null);

const nameOf = ({ collection, id }: DocRef): string => `${collection}/${id}`;
function refOf(name: string): DocRef {
  const [collection = '', id = ''] = name.split('/');
  return new DocRef(collection, BigInt(id));
}

/** The scalars of a field. Arrays are flattened at all depths; an object counts as null. */
function elements(value: Value | undefined): Value[] {
  if (value === undefined) return [];
  if (isList(value)) return value.flatMap(elements);
  return [isMembers(value) || value instanceof Doc || value instanceof Page ? null : value];
}

const unique = (list: readonly Value[]): Value[] => [
  ...new Map(list.map((each) => [`${each instanceof Dbl}${render(each)}`, each])).values(),
];

const product = (lists: readonly (readonly Value[])[]): Value[][] =>
  lists.reduce<Value[][]>(
    (all, list) => all.flatMap((some) => list.map((each) => [...some, each])),
    [[]],
  );

/** The covered values of a tuple. A tuple without values has its ref. */
export const covered = ({ values, ref }: Tuple): readonly Value[] => values ?? [ref];

export function compareCovered(
  a: readonly Value[],
  b: readonly Value[],
  flags: readonly boolean[],
): number {
  for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
    const difference = compare(a[i] ?? null, b[i] ?? null);
    if (difference !== 0) return flags[i] ? -difference : difference;
  }
  return a.length - b.length;
}

/** Compares by values, then by ref, then by type within one document: an Integer comes before a Double. */
export function compareTuples(a: Tuple, b: Tuple, flags: readonly boolean[]): number {
  return compareCovered(covered(a), covered(b), flags) || compareRefs(a.ref, b.ref);
}
