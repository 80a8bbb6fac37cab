// Types that an app declares for its own data, by augmenting the package. A program of their own compiles them, because a declaration
// applies to everything that is compiled with it.
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { compileSurface } from './compile-surface.mjs';
import { root } from './setup.mjs';

/** What the compiler says about an app with this code. @param {string} code */
function errorsIn(code) {
  const path = join(root, 'app.ts');
  const text = `import { q, type Expr, type Json, type Sync } from 'burrowdb';
    import { useMutation, useSync } from 'burrowdb/react';
    declare const sync: Sync, write: Expr;
    type Same<A, B> = [A, B] extends [B, A] ? true : false;
    const check = <A, B>(_same: Same<A, B>): void => undefined;
    ${code}`;
  const program = compileSurface(new Map([[path, text]]));
  const source = program.getSourceFile(path);
  return program
    .getSemanticDiagnostics(source)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

const DECLARED = `declare module 'burrowdb' { interface AppTypes { writeData: { noteId: string } } }`;

test('the data of a write is JSON', () => {
  const code = `
    for (const { data } of await sync.writes.list()) check<typeof data, Json | undefined>(true);
    sync.addEventListener('verdict', ({ detail: { data } }) => check<typeof data, Json | undefined>(true));
    for (const { data } of useSync().refused) check<typeof data, Json | undefined>(true);
    await sync.client.submit(write, { data: { any: ['thing'] } });`;
  expect(errorsIn(code)).toEqual([]);
});

test('the data of a write has the type that the app declares', () => {
  const code = `${DECLARED}
    type Stored = { noteId: string } | undefined;
    for (const { data } of await sync.writes.list()) check<typeof data, Stored>(true);
    sync.addEventListener('verdict', ({ detail: { data } }) => check<typeof data, Stored>(true));
    for (const { data } of useSync().refused) check<typeof data, Stored>(true);
    useMutation((id: string) => q.Delete(q.Ref(id)), { data: (noteId) => ({ noteId }) });
    await sync.client.submit(write, { data: { noteId: '7' } });`;
  expect(errorsIn(code)).toEqual([]);
});

test('other data than the app declares is refused', () => {
  expect(errorsIn(`${DECLARED} await sync.client.submit(write, { data: { note: '7' } });`)).toEqual(
    [expect.stringContaining("'note' does not exist in type '{ noteId: string; }'")],
  );
  const mutation = `useMutation((id: string) => q.Delete(q.Ref(id)), { data: (id) => id });`;
  expect(errorsIn(DECLARED + mutation)).toEqual([
    expect.stringContaining("Type 'string' is not assignable to type '{ noteId: string; }'"),
  ]);
});
