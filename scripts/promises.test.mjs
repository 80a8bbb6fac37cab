// Checks that docs/promises.md lists every promise and fault, and that the test files it names exist and name its ids.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './setup.mjs';

/** How many ids there are of each kind: promises of a database, of sync, of logins, of privacy, of availability; and faults. */
const COUNTS = { L: 11, S: 14, A: 8, P: 5, V: 3, F: 38 };

/** The ids in the first cell of a row: `F5, F33` or `F16–F19`. @param {string} cell */
const idsIn = (cell) =>
  [...cell.matchAll(/([LSAPVF])(\d+)(?:–\1(\d+))?/g)].flatMap(([, kind, first, last = first]) =>
    Array.from(
      { length: Number(last) - Number(first) + 1 },
      (_, n) => `${kind}${Number(first) + n}`,
    ),
  );

const page = readFileSync(join(root, 'docs/promises.md'), 'utf8');
const rows = [...page.matchAll(/^\| ([LSAPVF]\d.*?) \| .* \| (.*) \|$/gm)].map(
  ([, ids = '', tests = '']) => ({
    ids: idsIn(ids),
    tests,
    files: [...tests.matchAll(/\]\(\.\.\/([^)]+)\)/g)].map(([, file = '']) => file),
  }),
);

/** @param {string} file @param {string} id */
const names = (file, id) =>
  new RegExp(String.raw`\b${id}\b`).test(readFileSync(join(root, file), 'utf8'));

test('docs/promises.md lists every promise and fault once', () => {
  const all = Object.entries(COUNTS).flatMap(([kind, count]) => idsIn(`${kind}1–${kind}${count}`));
  expect(rows.flatMap(({ ids }) => ids).toSorted()).toEqual(all.toSorted());
});

test('each test file in docs/promises.md names an id of its row, and each id is named', () => {
  const wrong = rows.flatMap(({ ids, tests, files }) => {
    if (files.length === 0) return /^none: \w/.test(tests) ? [] : ids;
    return [
      ...ids.filter((id) => !files.some((file) => names(file, id))),
      ...files.filter((file) => !ids.some((id) => names(file, id))),
    ];
  });
  expect(wrong).toEqual([]);
});
