/**
 * Every form of the language by its wire keys: the rows of `functions/`, and the basic forms, which are not calls.
 * Spec: functions 1.
 */
import { assert } from '../errors.ts';
import type { FunctionRow, Parameter } from './function-row.ts';
import { isAtLeast, type ApiVersion } from './session.ts';
import { arrayRows } from './functions/arrays.ts';
import { authRows } from './functions/auth.ts';
import { basicRows } from './functions/basic.ts';
import { callRows } from './functions/call.ts';
import { casefoldRows } from './functions/casefold.ts';
import { conversionRows } from './functions/conversions.ts';
import { foldRows } from './functions/folds.ts';
import { formatRows } from './functions/format.ts';
import { numberRows } from './functions/numbers.ts';
import { objectRows } from './functions/objects.ts';
import { readRows } from './functions/reads.ts';
import { refRows } from './functions/refs.ts';
import { regexRows } from './functions/regex.ts';
import { selectRows } from './functions/select.ts';
import { setRows } from './functions/sets.ts';
import { stringRows } from './functions/strings.ts';
import { timeRows } from './functions/time.ts';
import { trigonometryRows } from './functions/trigonometry.ts';
import { typeCheckRows } from './functions/type-checks.ts';
import { writeRows } from './functions/writes.ts';

/**
 * Forms with their own evaluation rules: their members are not arguments, or are not always evaluated. `parse-basic.ts`
 * has a reader for each.
 */
export const BASIC_FORMS = {
  let: ['let', 'in'],
  var: ['var'],
  if: ['if', 'then', 'else'],
  do: ['do'],
  object: ['object'],
  query: ['query'],
  at: ['at', 'expr'],
  and: ['and'],
  or: ['or'],
  quote: ['quote'],
} as const satisfies Record<string, readonly string[]>;
export type BasicForm = keyof typeof BASIC_FORMS;

export const FUNCTION_ROWS: readonly FunctionRow[] = [
  ...basicRows,
  ...selectRows,
  ...arrayRows,
  ...foldRows,
  ...objectRows,
  ...stringRows,
  ...regexRows,
  ...formatRows,
  ...casefoldRows,
  ...numberRows,
  ...trigonometryRows,
  ...timeRows,
  ...conversionRows,
  ...refRows,
  ...setRows,
  ...readRows,
  ...writeRows,
  ...authRows,
  ...callRows,
  ...typeCheckRows,
];

/** A form found by its keys. `parameters`: the given ones, in the declared order. */
export type FoundForm =
  | { readonly basic: BasicForm }
  | {
      readonly row: FunctionRow;
      readonly parameters: readonly (readonly [string, Parameter<unknown>])[];
    };

// No wire key contains the separator. So names of other keys that do contain it never equal the name of a form.
const nameOf = (keys: readonly string[]): string =>
  keys.length === 1 ? (keys[0] ?? '') : [...keys].sort().join('\0');

/** The parameters of a row, for every combination of its optional keys. */
function variantsOf(row: FunctionRow): (readonly (readonly [string, Parameter<unknown>])[])[] {
  let variants: (readonly (readonly [string, Parameter<unknown>])[])[] = [[]];
  for (const entry of Object.entries(row.form)) {
    const longer = variants.map((variant) => [...variant, entry]);
    variants = entry[1].optional ? [...variants, ...longer] : longer;
  }
  return variants;
}

/** Forms by the name of their keys: the basic forms, and those of rows that a query has used. */
const FORMS = new Map<string, FoundForm>();

function addForm(keys: readonly string[], form: FoundForm): void {
  const name = nameOf(keys);
  assert(!FORMS.has(name), () => `two forms have the keys ${keys.join(', ')}`);
  FORMS.set(name, form);
}

for (const [basic, keys] of Object.entries(BASIC_FORMS))
  addForm(keys, { basic: basic as BasicForm });

/**
 * Rows that no query has used, by their first key. An app uses few of them, and adding all of them would slow down each
 * start of a worker.
 */
const UNNAMED = new Map<string, FunctionRow[]>();

for (const row of FUNCTION_ROWS) {
  const namesakes = UNNAMED.get(row.name);
  if (namesakes) namesakes.push(row);
  else UNNAMED.set(row.name, [row]);
}

function addRowsNamed(name: string): void {
  const rows = UNNAMED.get(name);
  if (!rows) return;
  UNNAMED.delete(name);
  for (const row of rows) {
    for (const parameters of variantsOf(row)) {
      addForm(
        parameters.map(([key]) => key),
        { row, parameters },
      );
    }
  }
}

function firstNamed(json: ReadonlyMap<string, unknown>, name: string): FoundForm | undefined {
  for (const key of json.keys()) addRowsNamed(key);
  return FORMS.get(name);
}

function onlyKey(json: ReadonlyMap<string, unknown>): string {
  for (const key of json.keys()) return key;
  return '';
}

/** A hint for a form that is not found: the keys of the function that `json` names. */
export function takenBy(json: ReadonlyMap<string, unknown>): string | undefined {
  for (const name of json.keys()) {
    const rows = FUNCTION_ROWS.filter((row) => row.name === name);
    const keys = new Set(rows.flatMap(({ form }) => Object.keys(form).slice(1)));
    if (keys.size > 0) return `${name} takes ${[...keys].join(', ')}.`;
  }
  return undefined;
}

/** The form with exactly the keys of `json` in this API version. Undefined if there is none. */
export function lookup(
  json: ReadonlyMap<string, unknown>,
  apiVersion: ApiVersion,
): FoundForm | undefined {
  const name = json.size === 1 ? onlyKey(json) : nameOf([...json.keys()]);
  const form = FORMS.get(name) ?? firstNamed(json, name);
  return form && 'row' in form && !isAtLeast(apiVersion, form.row.since) ? undefined : form;
}
