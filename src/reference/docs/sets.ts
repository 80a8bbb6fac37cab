import type { Family } from '../form-docs.ts';

const TYPES = [
  'invalid argument',
  'sets and arrays are mixed, or the sets cannot be compared',
] as const;

export const sets: Family = {
  file: 'sets',
  title: 'Sets',
  about:
    'A set is a recipe. Building one reads nothing; faults of its lambdas and missing rights show when it is read, by `paginate`, `get`, `exists` or a fold. Its entries are tuples of values and a ref, in order. See also `filter`, `distinct` and `reverse`, which take arrays too.',
  docs: {
    singleton: {
      summary: 'The set of one document, while it exists.',
      result: 'Set',
      example: 'Paginate(Singleton(Ref(Collection("notes"), "101")))',
    },
    events: {
      summary: 'The history of a document or set, as a set of events.',
      result: 'Set',
      errors: [['invalid argument', 'it is a history already, or a set that has none']],
      example: 'Count(Events(Ref(Collection("notes"), "101")))',
    },
    documents: {
      summary: 'All documents of a collection.',
      result: 'Set',
      example: 'Paginate(Documents(Collection("notes")), { size: 2 })',
    },
    match: {
      summary:
        'The entries of an index that have just these terms. A wrong number of terms matches nothing.',
      result: 'Set',
      errors: [
        ['invalid ref', 'there is no such index'],
        ['instance not found', 'the index is still being built (HTTP 400)'],
        ['permission denied', 'the index lies in another database'],
      ],
      example: 'Paginate(Match(Index("notes_by_tag"), "bird"))',
    },
    union: {
      summary:
        'What is in any of the operands, each as often as in the one that has it most often.',
      result: 'Set or Array',
      errors: [TYPES],
      example:
        'Count(Union(Match(Index("notes_by_tag"), "river"), Match(Index("notes_by_tag"), "mammal")))',
    },
    intersection: {
      summary: 'What is in all operands.',
      result: 'Set or Array',
      errors: [TYPES],
      example:
        'Paginate(Intersection(Match(Index("notes_by_tag"), "bird"), Match(Index("notes_by_tag"), "river")))',
    },
    difference: {
      summary: 'What is in the first operand and in no other.',
      result: 'Set or Array',
      errors: [TYPES],
      example: 'Difference([1, 2, 3, 4], [2, 4])',
    },
    join: {
      summary:
        'For each element of a set another set, all of them merged in order: by a lambda that gives the set, or by an index whose terms the values are.',
      result: 'Set',
      errors: [['invalid argument', 'the lambda reads, writes or calls a function']],
      example:
        'Paginate(Join(Match(Index("users_by_email"), "ada@example.org"), user => Match(Index("notes_by_author"), user)))',
    },
    range: {
      summary:
        'The entries of a set from one bound to another, both included; a bound is the beginning of a tuple, `[]` is open.',
      result: 'Set',
      errors: [['invalid ref', 'a bound names something that does not exist']],
      example: 'Paginate(Range(Match(Index("notes_by_stars")), [3], [4]))',
    },
  },
};
