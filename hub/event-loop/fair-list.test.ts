import { expect, test } from 'vitest';
import { FairList } from './fair-list.ts';

interface Item {
  readonly text: string;
  readonly line?: { readonly name: string; readonly group: string };
}

const item = (text: string, group?: string): Item =>
  group === undefined ? { text } : { text, line: { name: text.slice(0, 1), group } };
const textsOf = (items: readonly Item[]): string => items.map(({ text }) => text).join(' ');

test('FairList: lines take turns, and each line keeps its order', () => {
  const list = new FairList<Item>();
  for (const text of ['a1', 'a2', 'a3', 'b1']) list.push(item(text, 'many'));
  list.push(item('own'));
  list.push(item('c1', 'few'));
  expect(list.length).toBe(6);
  expect(textsOf(list.splice(0, 4))).toBe('a1 own c1 b1');
  expect(textsOf(list.splice(0, 10))).toBe('a2 a3');
  expect(list.length).toBe(0);
});

test('FairList: items that are put back come first in their line, but not before a new line', () => {
  const list = new FairList<Item>();
  for (const text of ['a1', 'a2', 'a3', 'a4']) list.push(item(text, 'many'));
  const [, ...rest] = list.splice(0, 3);
  list.push(item('c1', 'few'));
  list.unshift(...rest);
  expect(list.length).toBe(4);
  expect(textsOf(list.splice(0, 10))).toBe('c1 a2 a3 a4');
});
