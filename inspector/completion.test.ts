import { expect, test } from 'vitest';
import { completionsAt } from './completion.ts';

const schema = {
  collections: ['notes', 'nodes', 'users'],
  functions: ['sign_up'],
  indexes: [
    {
      name: 'notes_by_tag',
      sources: ['notes'],
      terms: [],
      values: [],
      isUnique: false,
      isActive: true,
    },
  ],
};

const at = (text: string, after = '') => completionsAt(text + after, text.length, schema);

test('completionsAt() completes functions of the language', () => {
  expect(at('Pag')).toEqual([{ label: 'Paginate', insert: 'Paginate(', start: 0 }]);
  expect(at('Paginate(docum')).toEqual([{ label: 'Documents', insert: 'Documents(', start: 9 }]);
  expect(at('Paginate')).toEqual([]);
  expect(at('1')).toEqual([]);
});

test('completionsAt() completes names of the database and adds a missing quote', () => {
  expect(at('Collection("no')).toEqual([
    { label: 'notes', insert: 'notes"', start: 12 },
    { label: 'nodes', insert: 'nodes"', start: 12 },
  ]);
  expect(at('Collection("no', '")')[0]).toEqual({ label: 'notes', insert: 'notes', start: 12 });
  expect(at('Index(')).toEqual([{ label: 'notes_by_tag', insert: '"notes_by_tag"', start: 6 }]);
  expect(at("Call('")).toEqual([{ label: 'sign_up', insert: "sign_up'", start: 6 }]);
  expect(at('Concat("no')).toEqual([]);
  expect(at('Concat("a", Tim')[0]?.label).toBe('Time');
});

test('completionsAt() ignores comments', () => {
  const [first] = at("// it doesn't end a string\nPag");
  expect(first?.insert).toBe('Paginate(');
  expect(at('Index(/* "a */')).toEqual([]);
});
