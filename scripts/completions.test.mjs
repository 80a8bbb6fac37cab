// What an editor suggests inside the arguments of builders, asked of TypeScript's language service.
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { surfaceOptions } from './compile-surface.mjs';
import { root } from './setup.mjs';

const path = join(root, 'app.ts');
let text = '';
let version = 0;
const service = ts.createLanguageService({
  getScriptFileNames: () => [path],
  getScriptVersion: (file) => (file === path ? String(version) : '0'),
  getScriptSnapshot: (file) => {
    const content = file === path ? text : ts.sys.readFile(file);
    return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
  },
  getCurrentDirectory: () => root,
  getCompilationSettings: () => surfaceOptions,
  fileExists: (file) => ts.sys.fileExists(file),
  readFile: (file) => ts.sys.readFile(file),
  directoryExists: (folder) => ts.sys.directoryExists(folder),
  getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
});

/** The names that an editor suggests at the `|` in an app's code, in order. @param {string} code */
function suggestedIn(code) {
  const start = `import { q } from 'burrowdb';
    interface Note { title: string; level: 'high' | 'low'; place: { lat: number; lon: number } }
    const notes = q.Collection<Note>('notes');
    const note = q.Ref(notes, '1');`;
  text = start + code.replace('|', '');
  version++;
  const found = service.getCompletionsAtPosition(path, start.length + code.indexOf('|'), {});
  return found?.entries.map(({ name }) => name).toSorted();
}

const BESIDE = ['constraints', 'credentials', 'data', 'permissions', 'ttl'];

test('inside of a document, an editor suggests its fields', () => {
  for (const call of ['Create(notes', 'Update(note', 'Replace(note']) {
    expect(suggestedIn(`q.${call}, { | })`)).toEqual(BESIDE);
    expect(suggestedIn(`q.${call}, { data: { | } })`)).toEqual(['level', 'place', 'title']);
    expect(suggestedIn(`q.${call}, { data: { place: { | } } })`)).toEqual(['lat', 'lon']);
    expect(suggestedIn(`q.${call}, { data: { level: '|' } })`)).toEqual(['high', 'low']);
  }
});

test('inside of a document of an unknown type, an editor suggests the members beside its fields', () => {
  expect(suggestedIn(`q.Create(q.Collection('notes'), { | })`)).toEqual(BESIDE);
  expect(suggestedIn(`q.Update(q.Ref(q.Collection('notes'), '1'), { | })`)).toEqual(BESIDE);
});

test('inside of schema objects and logins, an editor suggests their members', () => {
  expect(suggestedIn(`q.CreateIndex({ name: 'i', source: { | } })`)).toEqual([
    'class',
    'collection',
    'fields',
  ]);
  expect(suggestedIn(`q.CreateIndex({ name: 'i', source: notes, terms: [{ | }] })`)).toEqual([
    'binding',
    'field',
    'mva',
    'transform',
  ]);
  expect(suggestedIn(`q.CreateCollection({ name: 'c', permissions: { | } })`)).toEqual([
    'create',
    'read',
    'write',
  ]);
  expect(suggestedIn(`q.CreateRole({ name: 'r', membership: { | } })`)).toEqual([
    'predicate',
    'resource',
  ]);
  expect(suggestedIn(`q.Login(note, { | })`)).toEqual(['data', 'password', 'ttl']);
  expect(suggestedIn(`q.CreateKey({ role: '|' })`)).toEqual([
    'admin',
    'client',
    'server',
    'server-readonly',
  ]);
});

test('in a path, an editor suggests the members of the value', () => {
  expect(suggestedIn(`q.Select(['|'], q.Get(note))`)).toEqual(['data', 'ref', 'ts', 'ttl']);
  expect(suggestedIn(`q.Select(['data', '|'], q.Get(note))`)).toEqual(['level', 'place', 'title']);
  expect(suggestedIn(`q.Select(['data', 'place', '|'], q.Get(note), null)`)).toEqual([
    'lat',
    'lon',
  ]);
  const titles = `q.Map(q.Paginate(q.Documents(notes)), (ref) => q.Select(['data', '|'], q.Get(ref)))`;
  expect(suggestedIn(titles)).toEqual(['level', 'place', 'title']);
});
