/** Which tables the tree consists of. Stored as a log record of its own, a flip. */
import { compareScalars } from '../values/compare.ts';
import { ALL_FAMILIES, type Family } from './families.ts';

export interface ItemKey {
  readonly key: string;
  readonly owner: string;
}

/** A sorted piece of a run. Ids of its blocks are consecutive; its index comes behind them. */
export interface Table {
  /** Id of its first block; no other table ever has it. */
  readonly first: number;
  /** Offset of the index from there; number of its parts. */
  readonly index: number;
  readonly indexParts: number;
  readonly items: number;
  readonly bytes: number;
  readonly low: ItemKey;
  readonly high: ItemKey;
}

/** Tables in the order of their keys, none overlapping another. */
export interface Run {
  readonly level: number;
  /** It is being merged with its neighbours of the same level that are, too. */
  readonly isMerging: boolean;
  readonly tables: readonly Table[];
}

/** Newest first: what a run says of a key hides what those behind it say. */
export type Runs = readonly Run[];

export interface Manifest {
  /** Log records up to this number are in tables. */
  readonly flushed: number;
  /** What claims up to this number have put, and no table holds, may have been swept. */
  readonly swept: number;
  readonly families: Readonly<Record<Family, Runs>>;
  /** Tables that the flip left out: they are deleted after the next. */
  readonly retired: readonly IdRange[];
}

/** `[first, last]`. */
export interface IdRange {
  readonly first: number;
  readonly last: number;
}

/** Ids of one claim: its number times this, and more. */
export const IDS_PER_CLAIM = 2 ** 20;

export const claimOf = ({ first }: Pick<Table, 'first'>): number =>
  Math.floor(first / IDS_PER_CLAIM);

/** Ids of all that is stored for a table. */
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
