/** Names of the parameters of builders, as the reference and editors show them. */
import type { BuilderRow, Mark } from '../client/queries/builder-table.ts';

/** The name of the form's first parameter, by its type. */
const NOUNS: Readonly<Record<string, string>> = {
  Any: 'value',
  'Any*': 'values',
  'Any+': 'values',
  'Array or Page': 'collection',
  Boolean: 'boolean',
  'Boolean+': 'booleans',
  'Collection Ref': 'collection',
  'Database Ref': 'database',
  'Database Ref or Null': 'scope',
  Integer: 'integer',
  Iterable: 'collection',
  Lambda: 'lambda',
  Number: 'number',
  'Number+': 'numbers',
  Object: 'params',
  Path: 'path',
  Ref: 'ref',
  RefOrSet: 'refOrSet',
  'Scalar*': 'values',
  Set: 'set',
  'SetOrArray+': 'sets',
  String: 'text',
  'String*': 'strings',
  'String or Function Ref': 'function',
  'String or Index Ref': 'index',
  'String or Ref': 'collection',
  Temporal: 'time',
  Time: 'time',
};

/** By the key of the parameter, where the key does not say what the parameter is. */
const BY_KEY: Readonly<Record<string, string>> = {
  b: 'other',
  exp: 'exponent',
  num_results: 'count',
};

export interface NamedParameter {
  readonly noun: string;
  readonly mark: Mark;
}

/** The parameters of a builder in the order of its row. @param first the type of the first one */
export const parametersOf = ({ keys }: BuilderRow, first: string): readonly NamedParameter[] =>
  keys
    .filter(({ mark }) => mark !== '-')
    .map(({ key, mark }, at) => ({
      noun: (at === 0 ? NOUNS[first] : undefined) ?? BY_KEY[key] ?? key,
      mark,
    }));
