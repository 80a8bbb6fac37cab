import type { Family, FamilyDocs, FormDocs } from '../form-docs.ts';

const converted = (type: string, summary: string, example: string): FormDocs => ({
  summary,
  result: type,
  errors: [['invalid argument', `the value cannot be converted to a ${type}`]],
  example,
});

const CHECKS: Readonly<Record<string, readonly [summary: string, example: string]>> = {
  is_number: ['an Integer or a Double', 'IsNumber(1.5)'],
  is_double: ['a Double', '[IsDouble(1.5), IsDouble(1)]'],
  is_integer: ['an Integer', '[IsInteger(1), IsInteger(1.5)]'],
  is_boolean: ['true or false', 'IsBoolean(false)'],
  is_null: ['null', 'IsNull(Select("b", { a: 1 }, null))'],
  is_bytes: ['bytes', 'IsBytes(Bytes("AQID"))'],
  is_timestamp: ['a Time', '[IsTimestamp(Now()), IsTimestamp(Date("2026-03-01"))]'],
  is_date: ['a Date', 'IsDate(Date("2026-03-01"))'],
  is_uuid: [
    'a UUID; `@uuid` has no builder',
    '{"is_uuid": {"@uuid": "6f1c7c9e-7a55-4e9f-9f38-0d1e0f3c2b1a"}}',
  ],
  is_string: ['a String, or the action of an event', 'IsString("fox")'],
  is_array: ['an Array', 'IsArray([])'],
  is_object: [
    'an object, page, document or event',
    '[IsObject({}), IsObject(Get(Ref(Collection("notes"), "101")))]',
  ],
  is_ref: ['a ref, whether its target exists or not', 'IsRef(Collection("nowhere"))'],
  is_set: [
    'a set, or a native collection',
    '[IsSet(Documents(Collection("notes"))), IsSet(Collections())]',
  ],
  is_doc: ['a document, or a ref to one', 'IsDoc(Ref(Collection("notes"), "101"))'],
  is_lambda: ['a lambda', 'IsLambda(Query(Lambda("x", Var("x"))))'],
  is_collection: [
    'a collection or its ref',
    '[IsCollection(Collection("notes")), IsCollection(Collection("nowhere"))]',
  ],
  is_database: ['a database or its ref', 'IsDatabase(Database("shop"))'],
  is_index: ['an index or its ref', 'IsIndex(Index("notes_by_tag"))'],
  is_function: ['a function or its ref', 'IsFunction(Function("double"))'],
  is_key: ['a key or its ref', 'IsKey(Ref(Keys(), "1"))'],
  is_token: ['a token or its ref', 'IsToken(Ref(Tokens(), "1"))'],
  is_credentials: ['credentials or a ref to them', 'IsCredentials(Ref(Credentials(), "1"))'],
  is_role: ['a role or its ref', 'IsRole(Role("reader"))'],
};

const checks: FamilyDocs = Object.fromEntries(
  Object.entries(CHECKS).map(([name, [what, example]]) => [
    name,
    { summary: `Whether the value is ${what}.`, result: 'Boolean', example },
  ]),
);

export const types: Family = {
  file: 'types',
  title: 'Conversions and type checks',
  about: 'A conversion fails with an error for values it cannot convert; a type check never fails.',
  docs: {
    to_string: converted(
      'String',
      'Converts a scalar to a string.',
      '[ToString(1.5), ToString(Date("2026-03-01")), ToString(null)]',
    ),
    to_number: converted(
      'Number',
      'Parses the number at the start of a string: `"1,234.5 km"` is 1234.5. A whole number becomes an Integer.',
      '[ToNumber("1,234.5 km"), ToNumber("7")]',
    ),
    to_double: converted(
      'Double',
      'Converts a number, or the number at the start of a string, to a Double.',
      'ToDouble("7")',
    ),
    to_integer: converted(
      'Integer',
      'Converts a number, or the number at the start of a string, to an Integer; truncates toward zero.',
      '[ToInteger("12abc"), ToInteger(-2.9)]',
    ),
    to_time: converted(
      'Time',
      'Converts to a Time: a Date to its midnight in UTC, a string as `time` parses it, an Integer as milliseconds since 1970.',
      '[ToTime(Date("2026-03-01")), ToTime(1500)]',
    ),
    to_date: converted(
      'Date',
      'Converts to a Date: a Time to its day in UTC, a string as `date` parses it.',
      'ToDate(Time("2026-03-01T23:30:00-05:00"))',
    ),
    ...checks,
  },
};
