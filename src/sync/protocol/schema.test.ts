import { expect, expectTypeOf, test } from 'vitest';
import {
  anyOf,
  byKind,
  integer,
  list,
  maybe,
  object,
  oneOf,
  optional,
  SchemaMismatch,
  text,
  textLike,
  tuple,
  where,
  type Schema,
  type TypeOf,
} from './schema.ts';

const note = object(() => ({
  id: text(3),
  size: maybe(integer(0, 9)),
  tags: optional(list(oneOf('a', 'b'), 2)),
}));

test('object() reads its members and drops unknown ones', () => {
  expectTypeOf<TypeOf<typeof note>>().toEqualTypeOf<{
    readonly id: string;
    readonly size: number | undefined;
    readonly tags?: readonly ('a' | 'b')[] | undefined;
  }>();
  expect(note({ id: 'x', size: 3, tags: ['a'], more: true }, 'note')).toEqual({
    id: 'x',
    size: 3,
    tags: ['a'],
  });
  expect(note({ id: 'x', size: null }, 'note')).toStrictEqual({ id: 'x', size: undefined });
});

test('list() reads null as undefined for optional elements, because JSON has no undefined', () => {
  expect(list(maybe(text()))([null, 'a'], 'places')).toEqual([undefined, 'a']);
});

test.each<readonly [Schema<unknown>, unknown, string]>([
  [note, null, 'it: expected an object.'],
  [note, [], 'it: expected an object.'],
  [note, {}, 'it.id: expected a string of at most 3 characters.'],
  [note, { id: 'long' }, 'it.id: expected a string of at most 3 characters.'],
  [note, { id: 'x', size: 10 }, 'it.size: expected an integer from 0 to 9.'],
  [note, { id: 'x', size: 0.5 }, 'it.size: expected an integer from 0 to 9.'],
  [note, { id: 'x', tags: ['a', 'c'] }, 'it.tags.1: expected one of a, b.'],
  [note, { id: 'x', tags: ['a', 'b', 'a'] }, 'it.tags: expected an array of at most 2 elements.'],
  [tuple(text(), integer()), ['a'], 'it: expected an array of 2 elements.'],
  [tuple(text(), integer(0)), ['a', -1], `it.1: expected an integer from 0 to ${2 ** 53 - 1}.`],
  [textLike(/^a+$/, 'a text of a'), 'b', 'it: expected a text of a.'],
  [where(integer(), (n) => n % 2 === 0, 'an even one'), 3, 'it: expected an even one.'],
  [anyOf(oneOf('a'), oneOf(1)), 'b', 'it: expected one of a. it: expected one of 1.'],
])('a schema refuses a value of another shape: %#', (schema, value, message) => {
  expect(() => schema(value, 'it')).toThrow(new SchemaMismatch(message));
});

test('byKind() tries only the schema of the kind', () => {
  let tried = 0;
  const of = (kind: string) => {
    const schema = object(() => ({ kind: oneOf(kind), n: integer() }));
    return (value: unknown, path: string) => {
      tried += 1;
      return schema(value, path);
    };
  };
  const either = byKind({ one: of('one'), other: of('other') });
  expect(either({ kind: 'other', n: 1 }, 'it')).toEqual({ kind: 'other', n: 1 });
  expect(tried).toBe(1);
  expect(() => either({ kind: 'other', n: 'x' }, 'it')).toThrow('it.n: expected an integer');
  for (const value of [{ kind: 'toString' }, { kind: 1 }, {}, null, undefined, 'one'])
    expect(() => either(value, 'it')).toThrow('it.kind: expected one of one, other.');
});
