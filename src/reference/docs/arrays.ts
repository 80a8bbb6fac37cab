import type { Family } from '../form-docs.ts';

const EMPTY = ['invalid argument', 'there are no elements'] as const;

export const arrays: Family = {
  file: 'arrays',
  title: 'Arrays, pages and folds',
  about:
    'Functions that work on the elements of an array, page or set. On a page, they return a page with the same cursors; a fold returns a page whose `data` holds the one result. A fold over a set reads the whole set. The lambda must be written in place, not passed as a value.',
  docs: {
    map: {
      summary: 'Applies a lambda to each element of an array or page.',
      result: 'Array or Page',
      errors: [['invalid argument', 'an element does not fit the parameters of the lambda']],
      example: 'Map([1, 2, 3], x => Multiply(x, x))',
    },
    foreach: {
      summary:
        'Applies a lambda to each element for its side effects and returns the input unchanged.',
      result: 'Array or Page',
      errors: [['invalid argument', 'an element does not fit the parameters of the lambda']],
      example:
        'Foreach(["101", "102"], id => Update(Ref(Collection("notes"), id), { data: { read: true } }))',
    },
    filter: {
      summary:
        'Keeps the elements for which the lambda returns true. The result of filtering a set is a set, filtered when it is read.',
      result: 'Array, Page or Set',
      errors: [
        [
          'invalid argument',
          'the lambda does not return a Boolean; or it filters a set and could write or call a function',
        ],
      ],
      example: 'Filter([1, 2, 3, 4], x => Equals(Modulo(x, 2), 0))',
    },
    take: {
      summary:
        'The first elements. On a page, `after` moves to the first element that is left out.',
      result: 'Array or Page',
      example: 'Take(2, ["a", "b", "c"])',
    },
    drop: {
      summary:
        'All but the first elements. On a page, `before` moves to the first element that is kept.',
      result: 'Array or Page',
      example: 'Drop(2, ["a", "b", "c"])',
    },
    prepend: {
      summary: 'Adds elements at the start of an array.',
      result: 'Array',
      example: 'Prepend([1, 2], [3])',
    },
    append: {
      summary: 'Adds elements at the end of an array.',
      result: 'Array',
      example: 'Append(4, [1, 2, 3])',
    },
    is_empty: {
      summary: 'Whether there are no elements; for a set, none that the caller may read.',
      result: 'Boolean',
      errors: [['permission denied', 'the caller may not read the set']],
      example: 'IsEmpty(Match(Index("notes_by_tag"), "reptile"))',
    },
    is_nonempty: {
      summary: 'Whether there is at least one element.',
      result: 'Boolean',
      errors: [['permission denied', 'the caller may not read the set']],
      example: 'IsNonEmpty([null])',
    },
    reduce: {
      summary:
        'Folds from the left: the lambda takes the accumulator and the next element and returns the next accumulator.',
      result: 'the last accumulator',
      errors: [['invalid argument', 'the lambda does not take two values']],
      example:
        'Reduce((longest, word) => If(GT(Length(word), Length(longest)), word, longest), "", ["fox", "kingfisher", "heron"])',
    },
    count: {
      summary: 'The number of elements.',
      result: 'Integer',
      example: 'Count(Documents(Collection("notes")))',
    },
    sum: {
      summary:
        'The sum of all elements: an Integer unless one of them is a Double; 0 if there are none.',
      result: 'Number',
      errors: [['invalid argument', 'an element is not a number']],
      example: 'Sum([1, 2, 3.5])',
    },
    mean: {
      summary: 'The arithmetic mean.',
      result: 'Double',
      errors: [EMPTY, ['invalid argument', 'an element is not a number']],
      example: 'Mean([1, 2, 6])',
    },
    any: {
      summary:
        'Whether any element is true. Every element is checked, so an element that is not a Boolean fails even after a true one.',
      result: 'Boolean',
      errors: [['invalid argument', 'an element is not a Boolean']],
      example: 'Any([false, true])',
    },
    all: {
      summary: 'Whether every element is true; true if there are none.',
      result: 'Boolean',
      errors: [['invalid argument', 'an element is not a Boolean']],
      example: 'All([true, false])',
    },
    max: {
      summary: 'The greatest element in the total order of values; the last one of equals.',
      result: 'the element',
      errors: [EMPTY, ['invalid ref', 'an element refers to something that does not exist']],
      example: 'Max(3, 7, 5)',
    },
    min: {
      summary: 'The least element in the total order of values; the last one of equals.',
      result: 'the element',
      errors: [EMPTY, ['invalid ref', 'an element refers to something that does not exist']],
      example: 'Min(["b", "a", 10])',
    },
    distinct: {
      summary:
        'Each element once, at its first position. For a set: the set without repeated adjacent elements.',
      result: 'Array, Page or Set',
      example: 'Distinct(["a", "b", "a"])',
    },
    reverse: {
      summary: 'The elements in reverse order. For a set: the set read backwards.',
      result: 'Array, Page or Set',
      example: 'Reverse([1, 2, 3])',
    },
    first: {
      summary: 'The first element of an array or set.',
      result: 'the element',
      errors: [EMPTY],
      example: '{"first": {"documents": {"collection": "notes"}}}',
    },
    last: {
      summary: 'The last element of an array or set.',
      result: 'the element',
      errors: [EMPTY],
      example: '{"last": [1, 2, 3]}',
    },
  },
};
