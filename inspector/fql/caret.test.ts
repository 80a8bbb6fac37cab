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

test('callAt() sees no calls in strings, not even in one that does not end', () => {
  expect(at('Concat(["Get(", "\\"Map("], |')).toBe('Concat');
  expect(at("Length('Get(|")).toBe('Length');
  expect(at('"Get(|')).toBeUndefined();
});

test('callAt() passes over comments', () => {
  expect(at("// it doesn't end a string\nGet(|")).toBe('Get');
  expect(at('Map(/* Get(" */ |')).toBe('Map');
  expect(at('Map([], // Get(|')).toBe('Map');
});
