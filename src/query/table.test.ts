import { expect, test } from 'vitest';
import { API_VERSIONS } from './session.ts';
import { FUNCTION_ROWS, lookup } from './table.ts';
import { run } from './testing/pure-session.ts';

const withKeys = (keys: readonly string[]) => new Map(keys.map((key) => [key, null]));

test('lookup() finds every row by its required keys and by all its keys', () => {
  for (const row of FUNCTION_ROWS) {
    const entries = Object.entries(row.form);
    const required = entries.filter(([, { optional }]) => !optional).map(([key]) => key);
    for (const keys of [required, entries.map(([key]) => key)]) {
      expect(lookup(withKeys(keys.toReversed()), 'UNSTABLE')).toMatchObject({ row });
    }
  }
});

test('lookup() finds a row from its version on', () => {
  for (const row of FUNCTION_ROWS) {
    const keys = Object.entries(row.form).flatMap(([key, { optional }]) => (optional ? [] : [key]));
    const known = API_VERSIONS.filter((version) => lookup(withKeys(keys), version) !== undefined);
    expect(known).toEqual(API_VERSIONS.slice(API_VERSIONS.indexOf(row.since)));
  }
});

test('lookup() requires exactly the keys of a function', () => {
  expect(lookup(withKeys(['paginate', 'after', 'before']), '4')).toBeUndefined();
  expect(lookup(withKeys(['let']), '4')).toBeUndefined();
  expect(lookup(withKeys([]), '4')).toBeUndefined();
  expect(lookup(withKeys(['select\0from']), '4')).toBeUndefined();
  expect(lookup(withKeys(['toString']), '4')).toBeUndefined();
});

test('the name of each row is its first key', () => {
  for (const row of FUNCTION_ROWS) expect(Object.keys(row.form)[0]).toBe(row.name);
});

test('functions of the version UNSTABLE alone are unknown at every version', () => {
  const names =
    'issue_access_jwt split_str split_str_regex regex_escape starts_with ends_with contains_str contains_str_regex find_str find_str_regex lower_case l_trim replace_str replace_str_regex r_trim sub_string title_case upper_case bit_and bit_not bit_or bit_xor';
  expect(names.split(' ')).toHaveLength(22);
  for (const name of names.split(' ')) {
    const known = FUNCTION_ROWS.filter(({ form }) => name in form);
    expect(known, name).toEqual([]);
    expect(shownWith({ [name]: 'a', search: 'b' })).toEqual([
      `No form/function found, or invalid argument keys: { ${name}, search }.`,
    ]);
  }
});

function shownWith(query: unknown): readonly string[] {
  const outcome = run(query);
  return 'faults' in outcome ? outcome.faults.map(({ description }) => description) : [];
}
