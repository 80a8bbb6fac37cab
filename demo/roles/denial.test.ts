import { expect, test } from 'vitest';
import { q, Ref, type Expr } from '../../src/index.ts';
import { denialOf } from './denial.ts';

const wire = (expression: Expr): unknown => JSON.parse(JSON.stringify(expression));
const note = q.Ref(q.Collection('notes'), '1');
const ROLE = 'the role “notes_reader”';

test('denialOf() names role, action and resource, and does not reveal whether the document exists', () => {
  const told = (expression: Expr, ...position: (string | number)[]) =>
    denialOf(wire(expression), position, ROLE);
  const unsaid = ', or not this one. The error does not reveal whether it exists.';
  expect(told(q.Get(note))).toEqual({
    action: 'read',
    sentence: `With the role “notes_reader”, you may not read documents of “notes”${unsaid}`,
  });
  expect(told(q.Update(note, { data: {} }))).toEqual({
    action: 'write',
    sentence: `With the role “notes_reader”, you may not change documents of “notes”${unsaid}`,
  });
  expect(told(q.Create(q.Collection('notes'), { data: {} }), 'create')?.sentence).toBe(
    'With the role “notes_reader”, you may not create documents of “notes”.',
  );
  expect(told(q.Paginate(q.Match(q.Index('by_tag'), 'x')), 'paginate')?.sentence).toBe(
    'With the role “notes_reader”, you may not read the index “by_tag”.',
  );
  expect(told(q.Paginate(q.Keys()), 'paginate')?.sentence).toContain('list keys');
  expect(told(q.Call(q.Function('sign_up'), 1))?.sentence).toContain('call the function “sign_up”');
  expect(
    told(q.CreateIndex({ name: 'x', source: q.Collection('notes') }), 'create_index'),
  ).toMatchObject({
    sentence: 'With the role “notes_reader”, you may not create indexes.',
  });
});

test('denialOf() understands refs given as `Ref` values', () => {
  const collections = new Ref('collections');
  const notes = new Ref('notes', collections);
  const told = (ref: Ref) => denialOf(wire(q.Update(ref, {})), [], ROLE)?.sentence;
  expect(told(new Ref('1', notes))).toContain('change documents of “notes”');
  expect(told(notes)).toContain('change documents of “notes”');
  expect(told(new Ref('1', new Ref('keys')))).toContain('change keys');
});

test('denialOf() finds the denied call by its position in a larger query', () => {
  const query = wire(q.Do(q.Get(note), q.Let({ x: 1 }, q.Delete(note))));
  expect(denialOf(query, ['do', 0], ROLE)?.action).toBe('read');
  expect(denialOf(query, ['do', 1, 'in'], ROLE)?.action).toBe('delete');
  expect(denialOf(wire(q.Add(1, 2)), [], ROLE)).toBeUndefined();
});
