import { expect, test } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { isLong, joined, ownBytes, textOf, valuesIn } from './text-parts.ts';

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** The text as parts of one byte. */
const inBytes = (text: string) => Array.from(bytesOf(text), (byte) => Uint8Array.of(byte));

test('textOf() joins characters that are cut between parts', () => {
  expect(textOf(inBytes('aé€😀\uFEFFz'))).toBe('aé€😀\uFEFFz');
  expect(textOf([bytesOf('one part')])).toBe('one part');
  expect(textOf([])).toBeUndefined();
});

test('textOf() turns bytes that are not UTF-8 into a text that is not JSON', () => {
  const text = textOf([bytesOf('"a'), Uint8Array.of(0xc3), bytesOf('b"')]);
  expect(() => JSON.parse(text ?? '""') as unknown).toThrow(SyntaxError);
});

test('isLong() counts the bytes of all parts', () => {
  const half = new Uint8Array(LIMITS.longTextChars / 2);
  expect(isLong([half, half])).toBe(false);
  expect(isLong([half, half, Uint8Array.of(1)])).toBe(true);
});

test('ownBytes() copies a part of a larger buffer, and nothing else', () => {
  const whole = bytesOf('0123456789');
  expect(ownBytes(whole)).toBe(whole);
  const own = ownBytes(whole.subarray(2, 5));
  expect(own.buffer.byteLength).toBe(3);
  expect(joined([own])?.toString()).toBe('234');
});

test('valuesIn() counts brackets, braces and commas outside of strings', () => {
  expect(valuesIn(inBytes('[{},{"a":[1,2]},"x"]'))).toBe(7);
  expect(valuesIn(inBytes(String.raw`["a,[{", "\",", "\\", 1]`))).toBe(4);
  expect(valuesIn(inBytes('"text"'))).toBe(0);
});

test('valuesIn() reads each byte once, however many quotes there are', () => {
  const part = bytesOf(`${String.raw`"\\"`.repeat(1000)}["${String.raw`\"`.repeat(1000)}"]`);
  let searches = 0;
  part.indexOf = (...given) => {
    searches += 1;
    return Uint8Array.prototype.indexOf.apply(part, given);
  };
  expect(valuesIn([part])).toBe(1);
  expect(searches).toBeLessThan(10);
});

test('valuesIn() has the same result wherever the text is cut', () => {
  const text = Buffer.from(
    String.raw`[{"a\\\"b,[": ["", "\\", ",{", "\\\\\",", "ä,"], "\"": {}}, "x\\", [1,2]]`,
  );
  for (let length = 1; length <= text.length; length += 1) {
    const parts = [];
    for (let at = 0; at < text.length; at += length)
      parts.push(new Uint8Array(text.subarray(at, at + length)));
    expect(valuesIn(parts), `in parts of ${length}`).toBe(13);
  }
});
