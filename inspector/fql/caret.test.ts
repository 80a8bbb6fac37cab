import { expect, test } from 'vitest';
import { callAt } from './caret.ts';

/** `|` marks the caret. */
const at = (text: string): string | undefined => callAt(text.replace('|', ''), text.indexOf('|'));

test('callAt() finds the name at the caret, or the call around it', () => {
  expect(at('Pagi|')).toBe('Pagi');
  expect(at('Map(|')).toBe('Map');
  expect(at('Map(Paginate(Documents(|')).toBe('Documents');
  expect(at('Map(Paginate(Documents(Collection("a"))), x => |')).toBe('Map');
  expect(at('Create(Collection("a"), { data: { n: [1, |')).toBe('Create');
  expect(at('Add(1, (2 + |')).toBe('Add');
  expect(at('Add(1, 2)|')).toBeUndefined();
  expect(at('|Add(1, 2)')).toBeUndefined();
});

test('callAt() ignores calls in strings, even in an unterminated one', () => {
  expect(at('Concat(["Get(", "\\"Map("], |')).toBe('Concat');
  expect(at("Length('Get(|")).toBe('Length');
  expect(at('"Get(|')).toBeUndefined();
});

test('callAt() ignores comments', () => {
  expect(at("// it doesn't end a string\nGet(|")).toBe('Get');
  expect(at('Map(/* Get(" */ |')).toBe('Map');
  expect(at('Map([], // Get(|')).toBe('Map');
});
