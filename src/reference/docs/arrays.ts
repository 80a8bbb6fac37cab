import type { Family } from '../form-docs.ts';

const EMPTY = ['invalid argument', 'there is no element'] as const;

export const arrays: Family = {
  file: 'arrays',
  title: 'Arrays, pages and folds',
  about:
    'What goes through elements. A page keeps its cursors; of a fold over a page the answer is a page with the one value in `data`. Over a set, folds read it whole. Lambdas must be written in place.',
  docs: {
    map: {
      summary: 'Applies a lambda to each element of an array or page.',
      result: 'Array or Page',
      errors: [['invalid argument', 'an element does not fit the parameters of the lambda']],
      example: 'Map([1, 2, 3], x => Multiply(x, x))',
    },
    foreach: {
      summary:
        'Applies a lambda to each element for what it does, and gives back what it was given.',
      result: 'Array or Page',
      errors: [['invalid argument', 'an element does not fit the parameters of the lambda']],
      example:
        'Foreach(["101", "102"], id => Update(Ref(Collection("notes"), id), { data: { read: true } }))',
    },
    filter: {
      summary:
        'Keeps the elements for which the lambda says true; of a set it makes a set that is filtered when it is read.',
      result: 'Array, Page or Set',
      errors: [
        [
          'invalid argument',
          'the lambda gives no Boolean; or it is for a set and may write or call a function',
        ],
      ],
      example: 'Filter([1, 2, 3, 4], x => Equals(Modulo(x, 2), 0))',
    },
    take: {
      summary: 'The first elements; of a page, `after` moves to the first that is left out.',
      result: 'Array or Page',
      example: 'Take(2, ["a", "b", "c"])',
    },
    drop: {
      summary: 'All but the first elements; of a page, `before` moves to the first that is kept.',
      result: 'Array or Page',
      example: 'Drop(2, ["a", "b", "c"])',
    },
    prepend: {
      summary: 'Puts elements in front of an array.',
      result: 'Array',
      example: 'Prepend([1, 2], [3])',
    },
    append: {
      summary: 'Puts elements at the end of an array.',
      result: 'Array',
      example: 'Append(4, [1, 2, 3])',
    },
    is_empty: {
      summary: 'Whether there is no element; of a set, no element that may be read.',
      result: 'Boolean',
      errors: [['permission denied', 'the set may not be read']],
      example: 'IsEmpty(Match(Index("notes_by_tag"), "reptile"))',
    },
    is_nonempty: {
      summary: 'Whether there is an element.',
      result: 'Boolean',
      errors: [['permission denied', 'the set may not be read']],
      example: 'IsNonEmpty([null])',
    },
    reduce: {
      summary:
        'Folds from the left: the lambda gets what there is so far and the next element, and gives what there is then.',
      result: 'what the lambda gives last',
      errors: [['invalid argument', 'the lambda does not take two values']],
      example:
        'Reduce((longest, word) => If(GT(Length(word), Length(longest)), word, longest), "", ["fox", "kingfisher", "heron"])',
    },
    count: {
      summary: 'How many elements there are.',
      result: 'Integer',
      example: 'Count(Documents(Collection("notes")))',
    },
    sum: {
      summary: 'The sum of all elements: an Integer until the first Double, 0 of nothing.',
      result: 'Number',
      errors: [['invalid argument', 'an element is no number']],
      example: 'Sum([1, 2, 3.5])',
    },
    mean: {
      summary: 'The arithmetic mean.',
      result: 'Double',
      errors: [EMPTY, ['invalid argument', 'an element is no number']],
      example: 'Mean([1, 2, 6])',
    },
    any: {
      summary:
        'Whether any element is true. All are looked at: a later one that is no Boolean still fails.',
      result: 'Boolean',
      errors: [['invalid argument', 'an element is no Boolean']],
      example: 'Any([false, true])',
    },
    all: {
      summary: 'Whether every element is true; of nothing, yes.',
      result: 'Boolean',
      errors: [['invalid argument', 'an element is no Boolean']],
      example: 'All([true, false])',
    },
    max: {
      summary: 'The greatest element in the order of all values, the last of equal ones.',
      result: 'the element',
      errors: [EMPTY, ['invalid ref', 'an element names something that does not exist']],
      example: 'Max(3, 7, 5)',
    },
    min: {
      summary: 'The least element in the order of all values, the last of equal ones.',
      result: 'the element',
      errors: [EMPTY, ['invalid ref', 'an element names something that does not exist']],
      example: 'Min(["b", "a", 10])',
    },
    distinct: {
      summary:
        'Each element once, where it first stands; of a set, a set without repeated neighbours.',
      result: 'Array, Page or Set',
      example: 'Distinct(["a", "b", "a"])',
    },
    reverse: {
      summary: 'The elements from the end to the start; of a set, a set that is read backwards.',
      result: 'Array, Page or Set',
      example: 'Reverse([1, 2, 3])',
    },
    first: {
      summary: 'The first element of an array or set. No builder makes it.',
      result: 'the element',
      errors: [EMPTY],
      example: '{"first": {"documents": {"collection": "notes"}}}',
    },
    last: {
      summary: 'The last element of an array or set. No builder makes it.',
      result: 'the element',
      errors: [EMPTY],
      example: '{"last": [1, 2, 3]}',
    },
  },
};
