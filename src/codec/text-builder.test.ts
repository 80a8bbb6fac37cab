import { expect, test } from 'vitest';
import { Ref, type Document, type Value } from '../values/value.ts';
import { storedText } from './stored.ts';
import { TextBuilder, type TextLimit } from './text-builder.ts';
import { renderValue, type RenderContext } from './wire.ts';

const context: RenderContext = {
  names: { refToWire: () => '"x"' },
  apiVersion: '4',
  pendingTs: 1,
};
const limit: TextLimit = {
  chars: 10_000,
  refuse: () => {
    throw new RangeError('too long');
  },
};

test('a built text is its parts in order, and each long part is reported once', () => {
  const reported: number[] = [];
  const out = new TextBuilder(limit, (chars) => reported.push(chars));
  for (const part of ['a', 'b'.repeat(5000), 'c', 'd'.repeat(4095), 'e']) out.add(part);
  expect(out.finish()).toBe(`a${'b'.repeat(5000)}c${'d'.repeat(4095)}e`);
  expect(reported).toEqual([5001, 4096]);
});

test('a text of the maximum length is built, and a longer one is refused before it is complete', () => {
  const out = new TextBuilder(limit);
  out.add('a'.repeat(9_999));
  out.add('b');
  expect(out.finish()).toHaveLength(10_000);
  out.add('c');
  expect(() => out.finish()).toThrow(RangeError);
  expect(() => out.add('d'.repeat(5000))).toThrow(RangeError);
});

function nested(depth: number, leaf: Value): Value {
  let value = leaf;
  for (let level = 0; level < depth; level++)
    value = level % 2 === 0 ? [value] : new Map([['a', value]]);
  return value;
}

/** The least CPU time of three runs, ms. */
function timeOf(run: () => string): number {
  const times = [1, 2, 3].map(() => {
    const before = process.cpuUsage();
    // Reading a character makes the engine flatten the text.
    expect(run().charCodeAt(1)).toBeGreaterThan(0);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

// Copying the text at each level would take 400 times as long.
test.each([
  ['storedText()', (value: Value) => storedText(value)],
  ['renderValue()', (value: Value) => renderValue(value, context)],
])('%s takes as long for a long text at a depth of 800 levels as for one at the top', (_, make) => {
  const leaf = 'ab'.repeat(1_000_000);
  const [top, deep] = [nested(1, leaf), nested(800, leaf)];
  expect(make(deep)).toHaveLength(make(top).length + 400 * '{"a":}'.length + 399 * '[]'.length);
  expect(timeOf(() => make(deep))).toBeLessThan(
    20 *
      Math.max(
        1,
        timeOf(() => make(top)),
      ),
  );
});

test('renderValue() reports each character of a nested value once', () => {
  let reported = 0;
  const report = (chars: number): void => void (reported += chars);
  const text = renderValue(nested(200, 'ab'.repeat(50_000)), { ...context, report });
  expect(reported).toBeGreaterThan(100_000);
  expect(reported).toBeLessThanOrEqual(text.length);
});

test('renderValue() shows a stored document without parsing it', () => {
  const document: Document = {
    kind: 'document',
    ref: new Ref(0, 1024, 1n),
    ts: 5,
    created: false,
    get fields(): never {
      throw new Error('The document was parsed.');
    },
    text: '"data":{"a":1}',
  };
  expect(renderValue(document, context)).toBe('{"ref":{"@ref":"x"},"ts":5,"data":{"a":1}}');
});
