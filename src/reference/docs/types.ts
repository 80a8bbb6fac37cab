import type { Family, FamilyDocs, FormDocs } from '../form-docs.ts';

const converted = (type: string, summary: string, example: string): FormDocs => ({
  summary,
  result: type,
  errors: [['invalid argument', `the value cannot be made a ${type}`]],
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
    'a UUID; no builder makes it',
    '{"is_uuid": {"@uuid": "6f1c7c9e-7a55-4e9f-9f38-0d1e0f3c2b1a"}}',
  ],
  is_string: ['a String, or the action of an event', 'IsString("fox")'],
  is_array: ['an Array', 'IsArray([])'],
  is_object: [
    'an object, page, document or event',
    '[IsObject({}), IsObject(Get(Ref(Collection("notes"), "101")))]',
  ],
  is_ref: ['a ref, also to what does not exist', 'IsRef(Collection("nowhere"))'],
  is_set: [
    'a set, or a native collection',
    '[IsSet(Documents(Collection("notes"))), IsSet(Collections())]',
  ],
  is_doc: [
    'a document, or a ref to something that may be one',
    'IsDoc(Ref(Collection("notes"), "101"))',
  ],
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
  about: 'Conversions say what they cannot convert; checks never fail.',
  docs: {
    to_string: converted(
      'String',
      'A scalar as text.',
      '[ToString(1.5), ToString(Date("2026-03-01")), ToString(null)]',
    ),
    to_number: converted(
      'Number',
      'The number that a text begins with: `"1,234.5 km"` is 1234.5, and a whole one is an Integer.',
      '[ToNumber("1,234.5 km"), ToNumber("7")]',
    ),
    to_double: converted(
      'Double',
      'The number, or the number that a text begins with, as a Double.',
      'ToDouble("7")',
    ),
    to_integer: converted(
      'Integer',
      'The number, or the number that a text begins with, cut toward zero.',
      '[ToInteger("12abc"), ToInteger(-2.9)]',
    ),
    to_time: converted(
      'Time',
      'A Date as its midnight, a text as `time` reads it, an Integer as milliseconds since 1970.',
      '[ToTime(Date("2026-03-01")), ToTime(1500)]',
    ),
    to_date: converted(
      'Date',
      'The day of a Time in UTC, or the day that a text names.',
      'ToDate(Time("2026-03-01T23:30:00-05:00"))',
    ),
    ...checks,
  },
};
