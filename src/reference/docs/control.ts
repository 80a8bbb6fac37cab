import type { Family } from '../form-docs.ts';

export const control: Family = {
  file: 'control',
  title: 'Control and comparison',
  about:
    'Names, branches, order and truth. `let`, `var`, `if`, `do`, `object`, `query`, `at`, `and`, `or` and `quote` are no ordinary calls: part of what they hold is text and not an expression, or is not always evaluated.',
  docs: {
    let: {
      summary:
        'Gives names to values, each of which may use those before it, and evaluates the body with them; all are evaluated, also those nobody uses.',
      parameters: 'let: Bindings; in: Any',
      result: 'what the body gives',
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
        'The value that `let` or a lambda gave this name; names are checked before anything runs.',
      parameters: 'var: name',
      result: 'the value',
      errors: [['invalid expression', 'no such variable is in scope']],
      example: 'Let({ name: "Ada" }, Concat(["Hello, ", Var("name")]))',
    },
    if: {
      summary: 'Evaluates one of two branches and leaves the other alone.',
      parameters: 'if: Boolean; then: Any; else: Any',
      result: 'what the branch gives',
      example: 'If(Exists(Ref(Collection("notes"), "101")), "seen", "new")',
    },
    do: {
      summary: 'Evaluates all its parts from left to right and gives the last.',
      parameters: 'do: Array, at least one',
      result: 'the last value',
      errors: [['invalid expression', 'the list is empty']],
      example:
        'Do(Update(Ref(Collection("notes"), "102"), { data: { stars: 4 } }), Select(["data", "stars"], Get(Ref(Collection("notes"), "102"))))',
    },
    object: {
      summary:
        'An object whose members are expressions; builders make it of plain objects, so it is seldom written.',
      parameters: 'object: Members',
      result: 'Object',
      errors: [['invalid expression', 'what it holds is no object']],
      example: 'Object({ sum: Add(1, 2), at: Date("2026-03-01") })',
    },
    query: {
      summary:
        'A lambda as a value, with the variables it uses frozen into it; the body of a stored function is one.',
      parameters: 'query: Lambda',
      result: 'Lambda',
      errors: [['invalid expression', 'anything but a lambda is written there']],
      example: 'Query(Lambda("x", Add(Var("x"), 1)))',
    },
    at: {
      summary: 'Evaluates an expression as the database was at another time.',
      parameters: 'at: Time; expr: Any',
      result: 'what the expression gives',
      errors: [['invalid write time', 'the expression writes']],
      example: 'At(TimeSubtract(Now(), 1, "day"), Exists(Ref(Collection("notes"), "101")))',
    },
    and: {
      summary:
        'True when all operands are; the first false one ends it, and those after it are not evaluated.',
      parameters: 'and: Boolean+',
      result: 'Boolean',
      errors: [['invalid expression', 'the list is empty']],
      example: 'And(true, GT(3, 2), Not(false))',
    },
    or: {
      summary:
        'True when any operand is; the first true one ends it, and those after it are not evaluated.',
      parameters: 'or: Boolean+',
      result: 'Boolean',
      errors: [['invalid expression', 'the list is empty']],
      example: 'Or(LT(3, 2), Equals("a", "a"))',
    },
    quote: {
      summary:
        'Data as it stands: forms inside are not evaluated, only the `@` tags are read. No builder makes it.',
      parameters: 'quote: literal',
      result: 'the data',
      example: '{"quote": {"add": [1, 2], "on": {"@date": "2026-03-01"}}}',
    },
    now: {
      summary:
        'The time at which the query sees the database, the same wherever it is asked in one query.',
      result: 'Time',
      example: 'Equals(Now(), Time("now"))',
    },
    abort: {
      summary: 'Ends the query with an error of your own; nothing it wrote remains.',
      result: 'nothing',
      errors: [['transaction aborted', 'always, with the text given']],
      example: 'If(GT(Count(Documents(Collection("notes"))), 2), Abort("too many notes"), "fine")',
    },
    equals: {
      summary:
        'Whether all operands are the same value; 1 and 1.0 are, but not inside arrays and objects. It never fails on types.',
      result: 'Boolean',
      example: '[Equals(1, 1.5), Equals({ a: 1, b: 2 }, { b: 2, a: 1 })]',
    },
    lt: {
      summary: 'Whether each operand is less than the next, in the one order that all values have.',
      result: 'Boolean',
      errors: [['invalid ref', 'an operand names something that does not exist']],
      example: 'LT(1, 2, 3)',
    },
    lte: {
      summary: 'Whether each operand is less than the next or as great.',
      result: 'Boolean',
      errors: [['invalid ref', 'an operand names something that does not exist']],
      example: 'LTE(1, 1, "text comes after numbers")',
    },
    gt: {
      summary: 'Whether each operand is greater than the next.',
      result: 'Boolean',
      errors: [['invalid ref', 'an operand names something that does not exist']],
      example: 'GT(Time("2026-03-01T00:00:00Z"), Time("2025-03-01T00:00:00Z"))',
    },
    gte: {
      summary: 'Whether each operand is greater than the next or as great.',
      result: 'Boolean',
      errors: [['invalid ref', 'an operand names something that does not exist']],
      example: 'GTE(3, 2, 2)',
    },
    not: {
      summary: 'The other truth value.',
      result: 'Boolean',
      example: 'Not(Exists(Ref(Collection("notes"), "404")))',
    },
    new_id: {
      summary: 'A fresh id, as a document would get it, to name a document before it is created.',
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
        'Runs a stored function with these arguments, with the rights of its role if it has one, else with those of the caller.',
      result: 'what the function gives',
      errors: [
        ['invalid ref', 'there is no such function'],
        ['permission denied', 'the caller may not call it'],
        ['call error', 'something failed inside; `cause` says what'],
        ['stack overflow', 'calls are nested more than 200 deep'],
      ],
      example: 'Call(Function("double"), 21)',
    },
  },
};
