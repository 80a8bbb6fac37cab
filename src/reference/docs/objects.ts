import type { Family } from '../form-docs.ts';

export const objects: Family = {
  file: 'objects',
  title: 'Objects',
  about:
    'Objects as values. A document is accepted as an object: its members are `ref`, `ts` and those that are stored.',
  docs: {
    merge: {
      summary:
        'Merges objects, one level deep; later ones win. A lambda of `(key, left, right)` can choose the value instead. A member that becomes null is removed.',
      result: 'Object',
      errors: [['invalid argument', 'an operand is not an object; each of them is reported']],
      example: 'Merge({ a: 1, b: 2 }, [{ b: 3 }, { a: null, c: 4 }])',
    },
    to_object: {
      summary: 'Makes an object from an array of `[name, value]` pairs, or from a document.',
      result: 'Object',
      errors: [
        [
          'invalid argument',
          'the value is not an array, object or document, or an element is not such a pair',
        ],
      ],
      example: 'ToObject([["fox", 1], ["heron", 2]])',
    },
    to_array: {
      summary: 'The members of an object as `[name, value]` pairs.',
      result: 'Array',
      errors: [['invalid argument', 'the value is not an object, array or document']],
      example: 'ToArray({ fox: 1, heron: 2 })',
    },
  },
};
