/** Made by `npm run docs` of src/engine/sets/operations: the parts of the sets of each operation. */
import type { SetParts } from './set-parts.ts';

export const SET_TABLE = {
  difference: {
    sets: { kind: 'members', wire: 'difference' },
  },
  distinct: {
    set: { kind: 'set', wire: 'distinct' },
  },
  documents: {
    collection: { kind: 'collection', wire: 'documents' },
  },
  events: {
    of: { kind: 'source', wire: 'events' },
  },
  filter: {
    set: { kind: 'set', wire: 'collection' },
    lambda: { kind: 'predicate', wire: 'filter' },
  },
  intersection: {
    sets: { kind: 'members', wire: 'intersection' },
  },
  join: {
    set: { kind: 'set', wire: 'join' },
    with: { kind: 'target', wire: 'with' },
  },
  match: {
    index: { kind: 'index', wire: 'match' },
    terms: { kind: 'terms', wire: 'terms' },
  },
  range: {
    set: { kind: 'set', wire: 'range' },
    from: { kind: 'bound', wire: 'from' },
    to: { kind: 'bound', wire: 'to' },
  },
  reverse: {
    set: { kind: 'set', wire: 'reverse' },
  },
  singleton: {
    ref: { kind: 'ref', wire: 'singleton' },
  },
  union: {
    sets: { kind: 'members', wire: 'union' },
  },
} as const satisfies Readonly<Record<string, SetParts>>;

export type SetTable = typeof SET_TABLE;
export type SetOp = keyof SetTable;
