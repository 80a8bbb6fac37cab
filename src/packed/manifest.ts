/** The manifest: the tables that the tree consists of. Each new manifest is stored as a log record (a flip). */
import { compareScalars } from '../values/compare.ts';
import { ALL_FAMILIES, type Family } from './families.ts';

export interface ItemKey {
  readonly key: string;
  readonly owner: string;
}

/** A sorted part of a run. The ids of its blocks are consecutive, and its index has the ids after them. */
export interface Table {
  /** Id of the first block. No other table ever gets this id. */
  readonly first: number;
  /** Offset of the index from the first id, and the number of parts of the index. */
  readonly index: number;
  readonly indexParts: number;
  readonly items: number;
  readonly bytes: number;
  readonly low: ItemKey;
  readonly high: ItemKey;
}

/** Tables in the order of their keys, without overlaps. */
export interface Run {
  readonly level: number;
  /** The run is being merged with those adjacent runs of its level that have this flag too. */
  readonly isMerging: boolean;
  readonly tables: readonly Table[];
}

/** Newest first: an item of a run hides items with the same key in the runs after it. */
export type Runs = readonly Run[];

export interface Manifest {
  /** Log records up to this number are in tables. */
  readonly flushed: number;
  /** Blocks from claims up to this number may have been swept if no table refers to them. */
  readonly swept: number;
  readonly families: Readonly<Record<Family, Runs>>;
  /** Tables that this flip removed. Their blocks are deleted after the next flip. */
  readonly retired: readonly IdRange[];
}

/** `[first, last]`. */
export interface IdRange {
  readonly first: number;
  readonly last: number;
}

/** A claim reserves this many block ids: from its log number times this value. */
export const IDS_PER_CLAIM = 2 ** 20;

export const claimOf = ({ first }: Pick<Table, 'first'>): number =>
  Math.floor(first / IDS_PER_CLAIM);

/** All block ids of a table, its index included. */
export const idsOf = ({ first, index, indexParts }: Table): IdRange => ({
  first,
  last: first + index + indexParts - 1,
});

export const EMPTY_MANIFEST: Manifest = {
  flushed: 0,
  swept: 0,
  families: familiesOf(() => []),
  retired: [],
};

export function familiesOf<T>(make: (family: Family) => T): Record<Family, T> {
  return {
    0: make(0),
    1: make(1),
    2: make(2),
    3: make(3),
    4: make(4),
    5: make(5),
    6: make(6),
    7: make(7),
  };
}

export const tablesOf = (manifest: Manifest): Table[] =>
  ALL_FAMILIES.flatMap((family) => manifest.families[family].flatMap(({ tables }) => tables));

export const compareItemKeys = (a: ItemKey, b: ItemKey): number =>
  compareScalars(a.key, b.key) || compareScalars(a.owner, b.owner);
