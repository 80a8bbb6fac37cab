/** Two copies of the package in one page, as in an app whose parts are built separately. */
import { expect, test, vi } from 'vitest';
import * as one from '../../index.ts';

vi.resetModules();
const other = await import('../../index.ts');

test('a value of another copy of the package is encoded like one of ours', () => {
  expect(other.Double).not.toBe(one.Double);
  const { q } = other;
  const values = [new other.Double(1), new other.Uuid('u'), new other.FaunaDate('2031-05-04')];
  expect(one.queryText(values)).toBe('[1.0,{"@uuid":"u"},{"@date":"2031-05-04"}]');
  expect(one.queryText(q.Add(new other.Double(1), new one.Double(2), 3))).toBe(
    '{"add":[1.0,2.0,3]}',
  );
  expect(other.queryText(one.q.Add(new other.Double(1), new one.Double(2), 3))).toBe(
    '{"add":[1.0,2.0,3]}',
  );
});

test('a document with the member `_isFaunaDouble` is not a Double', () => {
  const text = '{"object":{"_isFaunaDouble":true,"value":1}}';
  expect(one.queryText(one.q.Select([], { _isFaunaDouble: true, value: 1 }) as never)).toContain(
    text,
  );
});
