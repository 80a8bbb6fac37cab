import type { Family } from '../form-docs.ts';

export const control: Family = {
  file: 'control',
  title: 'Control and comparison',
  about:
    'Variables, branches, sequences and comparisons. `let`, `var`, `if`, `do`, `object`, `query`, `at`, `and`, `or` and `quote` are special forms, not functions: some of their arguments are names or data rather than expressions, or are not always evaluated.',
  docs: {
    let: {
      summary:
        'Binds variables and evaluates the body with them. A binding may use those before it; all are evaluated, used or not.',
      parameters: 'let: Bindings; in: Any',
      result: 'the result of the body',
      errors: [
        [
          'invalid expression',
          'the bindings are neither an object nor an array of objects with one key',
        ],
      ],
      example: 'Let({ price: 8, count: 3 }, Multiply(Var("price"), Var("count")))',
    },
    var: {
      summary:
        'The value of a variable bound by `let` or a lambda. Names are checked before anything is evaluated.',
      parameters: 'var: name',
      result: 'the value',
      errors: [['invalid expression', 'no such variable is in scope']],
      example: 'Let({ name: "Ada" }, Concat(["Hello, ", Var("name")]))',
    },
    if: {
      summary: 'Evaluates one of two branches; the other is not evaluated.',
      parameters: 'if: Boolean; then: Any; else: Any',
      result: 'the result of the branch',
      example: 'If(Exists(Ref(Collection("notes"), "101")), "seen", "new")',
    },
    do: {
      summary: 'Evaluates its expressions from left to right and returns the last result.',
      parameters: 'do: Array, at least one',
      result: 'the last result',
      errors: [['invalid expression', 'the list is empty']],
      example:
        'Do(Update(Ref(Collection("notes"), "102"), { data: { stars: 4 } }), Select(["data", "stars"], Get(Ref(Collection("notes"), "102"))))',
    },
    object: {
      summary:
        'An object whose members are expressions. Builders make it from plain objects, so it is rarely written out.',
      parameters: 'object: Members',
      result: 'Object',
      errors: [['invalid expression', 'the argument is not an object']],
      example: 'Object({ sum: Add(1, 2), at: Date("2026-03-01") })',
    },
    query: {
      summary:
        'A lambda as a value; it captures the variables it uses. The body of a stored function is one.',
      parameters: 'query: Lambda',
      result: 'Lambda',
      errors: [['invalid expression', 'the argument is not a lambda']],
      example: 'Query(Lambda("x", Add(Var("x"), 1)))',
    },
    at: {
      summary: 'Evaluates an expression against the database as it was at another time.',
      parameters: 'at: Time; expr: Any',
      result: 'the result of the expression',
      errors: [['invalid write time', 'the expression writes']],
      example: 'At(TimeSubtract(Now(), 1, "day"), Exists(Ref(Collection("notes"), "101")))',
    },
    and: {
      summary:
        'True if all operands are true. Operands after the first false one are not evaluated.',
      parameters: 'and: Boolean+',
      result: 'Boolean',
      errors: [['invalid expression', 'the list is empty']],
      example: 'And(true, GT(3, 2), Not(false))',
    },
    or: {
      summary: 'True if any operand is true. Operands after the first true one are not evaluated.',
      parameters: 'or: Boolean+',
      result: 'Boolean',
      errors: [['invalid expression', 'the list is empty']],
      example: 'Or(LT(3, 2), Equals("a", "a"))',
    },
    quote: {
      summary: 'Literal data: forms inside it are not evaluated, only `@` tags are decoded.',
      parameters: 'quote: literal',
      result: 'the data',
      example: '{"quote": {"add": [1, 2], "on": {"@date": "2026-03-01"}}}',
    },
    now: {
      summary: 'The transaction time of the query, the same everywhere in one query.',
      result: 'Time',
      example: 'Equals(Now(), Time("now"))',
    },
    abort: {
      summary: 'Fails the query with a message of your own; its writes are rolled back.',
      result: 'none',
      errors: [['transaction aborted', 'always, with the given message']],
      example: 'If(GT(Count(Documents(Collection("notes"))), 2), Abort("too many notes"), "fine")',
    },
    equals: {
      summary:
        'Whether all operands are the same value. 1 and 1.0 are equal, but not inside arrays and objects. Operands of any type are accepted.',
      result: 'Boolean',
      example: '[Equals(1, 1.5), Equals({ a: 1, b: 2 }, { b: 2, a: 1 })]',
    },
    lt: {
      summary: 'Whether each operand is less than the next, in the total order of values.',
      result: 'Boolean',
      errors: [['invalid ref', 'an operand refers to something that does not exist']],
      example: 'LT(1, 2, 3)',
    },
    lte: {
      summary: 'Whether each operand is less than or equal to the next.',
      result: 'Boolean',
      errors: [['invalid ref', 'an operand refers to something that does not exist']],
      example: 'LTE(1, 1, "text comes after numbers")',
    },
    gt: {
      summary: 'Whether each operand is greater than the next.',
      result: 'Boolean',
      errors: [['invalid ref', 'an operand refers to something that does not exist']],
      example: 'GT(Time("2026-03-01T00:00:00Z"), Time("2025-03-01T00:00:00Z"))',
    },
    gte: {
      summary: 'Whether each operand is greater than or equal to the next.',
      result: 'Boolean',
      errors: [['invalid ref', 'an operand refers to something that does not exist']],
      example: 'GTE(3, 2, 2)',
    },
    not: {
      summary: 'The negation of a Boolean.',
      result: 'Boolean',
      example: 'Not(Exists(Ref(Collection("notes"), "404")))',
    },
    new_id: {
      summary: 'A new document id, to refer to a document before it is created.',
      result: 'String of digits',
      example:
        'Let({ id: NewId() }, Equals(Var("id"), Select("id", Ref(Collection("notes"), Var("id")))))',
    },
    next_id: {
      summary: 'The old name of `new_id`.',
      result: 'String of digits',
      example: 'GT(Length(NextId()), 16)',
    },
    call: {
      summary:
        'Calls a stored function. It runs with the permissions of its own role if it has one, otherwise with those of the caller.',
      result: 'the result of the function',
      errors: [
        ['invalid ref', 'there is no such function'],
        ['permission denied', 'the caller may not call the function'],
        ['call error', 'the function failed; `cause` holds its errors'],
        ['stack overflow', 'calls are nested more than 200 deep'],
      ],
      example: 'Call(Function("double"), 21)',
    },
  },
};
