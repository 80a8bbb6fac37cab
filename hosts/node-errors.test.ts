import { expect, test } from 'vitest';
import { messageOf } from './node-errors.ts';

test('messageOf() tells of a connection that was tried at several addresses', () => {
  const tried = ['::1:1', '127.0.0.1:1'].map((at) => new Error(`connect ECONNREFUSED ${at}`));
  expect(messageOf(new AggregateError(tried))).toBe(
    'connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1',
  );
});

test('messageOf() tells what an error says, or what is none', () => {
  expect(messageOf(new AggregateError([new Error('a part')], 'the whole'))).toBe('the whole');
  expect(messageOf(new Error('gone'))).toBe('gone');
  expect(messageOf('gone')).toBe('gone');
});
