import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { prettyJson, prettyJsonInSlices } from './pretty-json.ts';

test('prettyJson() formats JSON and keeps numbers as written', () => {
  expect(prettyJson('{"a":[1.0,9007199254740993],"b":{},"c":[],"d":"{x:[1,2]}"}')).toBe(
    '{\n  "a": [\n    1.0,\n    9007199254740993\n  ],\n  "b": {},\n  "c": [],\n  "d": "{x:[1,2]}"\n}',
  );
});

test('prettyJson() formats as JSON.stringify does with two spaces', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(prettyJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

test('prettyJsonInSlices() returns the same as prettyJson(), with pauses for other work', async () => {
  const text = JSON.stringify([
    'x'.repeat(8_000_000),
    '\\"'.repeat(100_000),
    ...Array.from({ length: 50_000 }, (_, i) => ({ i })),
  ]);
  let pauses = 0;
  const pause = async (): Promise<void> => void pauses++;
  expect((await prettyJsonInSlices(text, pause)) === prettyJson(text)).toBe(true);
  expect(JSON.stringify(JSON.parse(prettyJson(text))) === text).toBe(true);
  expect(pauses).toBeGreaterThan(10);
});
