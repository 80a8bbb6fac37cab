import { expect, test } from 'vitest';
import { q, type Expr } from '../../src/index.ts';
import {
  addPhoto,
  countNote,
  createNote,
  deleteNote,
  renameNote,
  shareNote,
} from './note-queries.ts';
import { readWrite, sayWrite } from './read-write.ts';

const read = (expression: Expr) => readWrite(JSON.stringify(expression));
const titleOf = (id: string): string => `note ${id}`;

test('readWrite() recognizes each kind of write that the page makes', () => {
  expect(read(createNote('A wren', true))).toEqual({
    kind: 'create',
    title: 'A wren',
    shared: true,
  });
  expect(read(renameNote('7', 'A siskin'))).toEqual({ kind: 'rename', id: '7', title: 'A siskin' });
  expect(read(shareNote('7', false))).toEqual({ kind: 'share', id: '7', shared: false });
  expect(read(countNote('7'))).toEqual({ kind: 'count', id: '7' });
  const photo = { file: 'file:0', size: 1, type: 'image/png' };
  expect(read(addPhoto('7', photo))).toEqual({ kind: 'photo', id: '7' });
  expect(read(deleteNote('7'))).toEqual({ kind: 'delete', id: '7' });
});

test('sayWrite() describes the writes of this page, and says if another page wrote', () => {
  expect(sayWrite(read(createNote('A wren', true)), titleOf)).toBe('New note “A wren”');
  expect(sayWrite(read(renameNote('7', 'A siskin')), titleOf)).toBe(
    'Rename “note 7” to “A siskin”',
  );
  expect(sayWrite(read(shareNote('7', false)), titleOf)).toBe('Hide “note 7”');
  expect(sayWrite(read(countNote('7')), titleOf)).toBe('+1 for “note 7”');
  expect(sayWrite(read(deleteNote('7')), titleOf)).toBe('Delete “note 7”');
  for (const other of [q.Do(1, 2), q.Create(q.Collection('other'), { data: { n: 1 } })])
    expect(sayWrite(read(other), titleOf)).toBe('A write by another page');
});
