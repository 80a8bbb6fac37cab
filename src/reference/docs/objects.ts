import type { Family } from '../form-docs.ts';

export const objects: Family = {
  file: 'objects',
  title: 'Objects',
  about:
    'Objects as values. Documents may stand where an object is asked for: they are then `ref`, `ts` and their members.',
  docs: {
    merge: {
      summary:
        'Lays objects over one another, one level deep. A lambda may choose between `(key, left, right)`; a member that becomes null is gone.',
      result: 'Object',
      errors: [['invalid argument', 'an operand is no object; each one is reported']],
      example: 'Merge({ a: 1, b: 2 }, [{ b: 3 }, { a: null, c: 4 }])',
    },
    to_object: {
      summary: 'An object of pairs of name and value, or of a document.',
      result: 'Object',
      errors: [
        ['invalid argument', 'it is no array, object or document, or an element is no such pair'],
      ],
      example: 'ToObject([["fox", 1], ["heron", 2]])',
    },
    to_array: {
      summary: 'The members of an object as pairs of name and value.',
      result: 'Array',
      errors: [['invalid argument', 'it is no object, array or document']],
      example: 'ToArray({ fox: 1, heron: 2 })',
    },
  },
};
