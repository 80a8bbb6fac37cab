import type { Family } from '../form-docs.ts';

export const selecting: Family = {
  file: 'selecting',
  title: 'Looking into values',
  about:
    'A path is a name, an array index, or an array of these. It can be followed into objects, arrays, pages, documents (`ref`, `ts`, `data` …), events, refs (`id`, `collection`, `database`) and sets.',
  docs: {
    select: {
      summary:
        'The value at a path, or the default if there is none. The default is evaluated only if needed.',
      result: 'the value',
      errors: [
        ['value not found', 'there is no value at the path and no default is given (HTTP 404)'],
        ['invalid ref', 'the value to look into refers to something that does not exist'],
      ],
      example: 'Select(["data", "tags", 0], Get(Ref(Collection("notes"), "101")))',
    },
    select_all: {
      summary:
        'All values at a path as one flat array. An array along the path is followed into each of its elements.',
      result: 'Array',
      errors: [['invalid ref', 'the value to look into refers to something that does not exist']],
      example: 'SelectAll("name", [{ name: "Ada" }, { name: ["Ben", "Benno"] }, {}])',
    },
    select_as_index: {
      summary: 'Another name of `select_all`: the way an index reads the fields of a document.',
      result: 'Array',
      errors: [['invalid ref', 'the value to look into refers to something that does not exist']],
      example:
        '{"select_as_index": ["a", "b"], "from": {"object": {"a": [{"object": {"b": 1}}, {"object": {"b": 2}}]}}}',
    },
    contains: {
      summary: 'The old name of `contains_path`.',
      result: 'Boolean',
      errors: [['invalid ref', 'the value to look into refers to something that does not exist']],
      example: 'Contains(["a", "b"], { a: { b: null } })',
    },
    contains_path: {
      summary: 'Whether there is a value at a path.',
      result: 'Boolean',
      errors: [['invalid ref', 'the value to look into refers to something that does not exist']],
      example: 'ContainsPath(["data", "title"], Get(Ref(Collection("notes"), "101")))',
    },
    contains_field: {
      summary: 'Whether an object has a member of this name.',
      result: 'Boolean',
      errors: [['invalid ref', 'the value to look into refers to something that does not exist']],
      example: 'ContainsField("stars", { title: "Heron at dawn" })',
    },
    contains_value: {
      summary: 'Whether an array, object, page, document, ref or set contains this value.',
      result: 'Boolean',
      errors: [
        ['invalid argument', 'the second argument is a scalar'],
        ['invalid ref', 'the value to look into refers to something that does not exist'],
      ],
      example: 'ContainsValue("fox", ["heron", "fox"])',
    },
  },
};
