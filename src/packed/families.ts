/**
 * The families of the tree, each a sorted list with its own tables: the rows of each space, and the index entries of
 * two spaces. All share one log.
 */
import { SPACES, type EntrySpace, type Space } from '../store/port.ts';

/** Stored in blocks and manifests: a used number never gets another meaning. */
export const FAMILY = {
  documents: 0,
  documentEntries: 1,
  history: 2,
  historyEntries: 3,
  sync: 4,
  meta: 5,
  log: 6,
  files: 7,
} as const;
export type Family = (typeof FAMILY)[keyof typeof FAMILY];

export const ALL_FAMILIES: readonly Family[] = Object.values(FAMILY);

export const rowFamily = (space: Space): Family => FAMILY[space];

export const entryFamily = (space: EntrySpace): Family =>
  space === 'documents' ? FAMILY.documentEntries : FAMILY.historyEntries;

/**
 * Whether the items of a family are pairs of an index entry and the primary key of its row. In other families the
 * second part is empty.
 */
export const isEntryFamily = (family: number): boolean =>
  family === FAMILY.documentEntries || family === FAMILY.historyEntries;

export const isFamily = (number: number): number is Family =>
  number >= 0 && number < ALL_FAMILIES.length;

/** The space whose rows a family holds. */
export const spaceOfRows = (family: Family): Space | undefined =>
  SPACES.find((space) => FAMILY[space] === family);
