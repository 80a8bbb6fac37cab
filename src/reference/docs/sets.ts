import type { Family } from '../form-docs.ts';

const TYPES = [
  'invalid argument',
  'sets and arrays are mixed, or the sets cannot be combined',
] as const;

export const sets: Family = {
  file: 'sets',
  title: 'Sets',
  about:
    'A set is a description of a read; building one reads nothing. Errors in its lambdas and missing permissions show when it is read by `paginate`, `get`, `exists` or a fold. Its entries are tuples of values and a ref, in order. See also `filter`, `distinct` and `reverse`, which accept arrays too.',
  docs: {
    singleton: {
      summary: 'The set of one document, while it exists.',
      result: 'Set',
      example: 'Paginate(Singleton(Ref(Collection("notes"), "101")))',
    },
    events: {
      summary: 'The history of a document or set, as a set of events.',
      result: 'Set',
      errors: [['invalid argument', 'the argument is already a history, or a set without one']],
      example: 'Count(Events(Ref(Collection("notes"), "101")))',
    },
    documents: {
      summary: 'All documents of a collection.',
      result: 'Set',
      example: 'Paginate(Documents(Collection("notes")), { size: 2 })',
    },
    match: {
      summary:
        'The entries of an index with exactly these terms. A wrong number of terms matches nothing.',
      result: 'Set',
      errors: [
        ['invalid ref', 'there is no such index'],
        ['instance not found', 'the index is still being built (HTTP 400)'],
        ['permission denied', 'the index belongs to another database'],
      ],
      example: 'Paginate(Match(Index("notes_by_tag"), "bird"))',
    },
    union: {
      summary:
        'The elements of any operand. A repeated element occurs as often as in the operand that has it most often.',
      result: 'Set or Array',
      errors: [TYPES],
      example:
        'Count(Union(Match(Index("notes_by_tag"), "river"), Match(Index("notes_by_tag"), "mammal")))',
    },
    intersection: {
      summary: 'The elements that all operands have.',
      result: 'Set or Array',
      errors: [TYPES],
      example:
        'Paginate(Intersection(Match(Index("notes_by_tag"), "bird"), Match(Index("notes_by_tag"), "river")))',
    },
    difference: {
      summary: 'The elements of the first operand that no other operand has.',
      result: 'Set or Array',
      errors: [TYPES],
      example: 'Difference([1, 2, 3, 4], [2, 4])',
    },
    join: {
      summary:
        'Maps each element of a set to another set and merges these in order. The other set is the result of a lambda, or the entries of an index whose terms are the values of the element.',
      result: 'Set',
      errors: [['invalid argument', 'the lambda reads, writes or calls a function']],
      example:
        'Paginate(Join(Match(Index("users_by_email"), "ada@example.org"), user => Match(Index("notes_by_author"), user)))',
    },
    range: {
      summary:
        'The entries of a set between two bounds, both inclusive. A bound is a prefix of a tuple; `[]` is unbounded.',
      result: 'Set',
      errors: [['invalid ref', 'a bound refers to something that does not exist']],
      example: 'Paginate(Range(Match(Index("notes_by_stars")), [3], [4]))',
    },
  },
};
