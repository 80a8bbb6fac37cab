// Checks that docs/errors.md lists every error code, with its class and HTTP status.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DatabaseClosed, queryError, Unsupported, UsageError } from '../src/client/errors.ts';
import { FAULTS, MISUSES, REFUSALS } from '../src/errors.ts';
import { anchorOf } from './anchors.mjs';
import { root } from './setup.mjs';

const text = readFileSync(join(root, 'docs/errors.md'), 'utf8');

/** Class, status and `retryable` of each code, as the page states them. */
const said = Object.fromEntries(
  [...text.matchAll(/^### (.+)\n\n(`\w+`[^.]*)\. \S/gm)].map(([, code, facts]) => [
    code,
    facts?.replaceAll('\n', ' '),
  ]),
);

test('docs/errors.md states class, HTTP status and `retryable` of each error code', () => {
  /** @type {Record<string, { class: string; status?: number; retryable?: true }>} */
  const codes = { ...FAULTS, ...REFUSALS, ...MISUSES };
  const facts = Object.entries(codes).map(([code, row]) => {
    const status = row.status === undefined ? '' : `, HTTP ${row.status}`;
    return [code, `\`${row.class}\`${status}${row.retryable ? ', retryable' : ''}`];
  });
  expect(said).toEqual(Object.fromEntries(facts));
});

test('the `help` of each error points to its section of docs/errors.md', () => {
  const anchors = new Set(
    [...text.matchAll(/^### (.+)$/gm)].map(([, code = '']) => anchorOf(code)),
  );
  const errors = [
    ...[...Object.keys(FAULTS), ...Object.keys(REFUSALS)].map((code) =>
      queryError([{ code, description: '' }]),
    ),
    ...[UsageError, Unsupported, DatabaseClosed].map((kind) => new kind('')),
  ];
  for (const { code, help } of errors) {
    const [file, anchor = ''] = help.split('#');
    expect(file).toBe('burrowdb/docs/errors.md');
    expect(anchors, code).toContain(anchor);
  }
});
