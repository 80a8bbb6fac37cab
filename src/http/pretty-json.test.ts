import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { prettyJson } from './pretty-json.ts';

test('prettyJson() lays out, and keeps numbers to the letter', () => {
  expect(prettyJson('{"a":[1.0,9007199254740993],"b":{},"c":[],"d":"{x:[1,2]}"}')).toBe(
    '{\n  "a": [\n    1.0,\n    9007199254740993\n  ],\n  "b": {},\n  "c": [],\n  "d": "{x:[1,2]}"\n}',
  );
});

test('prettyJson() says the same as JSON.stringify with two spaces', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(prettyJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
    }),
  );
});
