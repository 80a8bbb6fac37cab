import { expect, test } from 'vitest';
import { messageOf } from './node-errors.ts';

test('messageOf() joins the messages of a connection that was tried at several addresses', () => {
  const tried = ['::1:1', '127.0.0.1:1'].map((at) => new Error(`connect ECONNREFUSED ${at}`));
  expect(messageOf(new AggregateError(tried))).toBe(
    'connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1',
  );
});

test('messageOf() returns the message of an error, or a value that is not an error as text', () => {
  expect(messageOf(new AggregateError([new Error('a part')], 'the whole'))).toBe('the whole');
  expect(messageOf(new Error('gone'))).toBe('gone');
  expect(messageOf('gone')).toBe('gone');
});
