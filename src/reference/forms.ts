/** Every form of the language, combined from the rows of the table, the builders and the docs. */
import { BUILDER_ROWS } from '../client/queries/builder-table.ts';
import type { FaultCode } from '../errors.ts';
import type { Parameter } from '../query/function-row.ts';
import type { ApiVersion } from '../query/session.ts';
import { BASIC_FORMS, FUNCTION_ROWS } from '../query/table.ts';
import { FAMILIES } from './families.ts';
import type { Family, FormDocs } from './form-docs.ts';
import { parametersOf } from './parameter-nouns.ts';

export interface FormParameter {
  readonly key: string;
  readonly type: string;
  readonly optional: boolean;
  readonly note?: string;
}

export interface FormEntry {
  readonly name: string;
  readonly family: Family;
  readonly docs: FormDocs;
  /** Each way to write the form. `paginate` and `match` have several. */
  readonly variants: readonly (readonly FormParameter[])[];
  readonly effect: string;
  readonly since: ApiVersion;
  /** Empty if the form has no builder. */
  readonly builders: readonly string[];
  readonly errors: readonly (readonly [FaultCode, string])[];
}

const NOTES: Readonly<Partial<Record<Parameter<unknown>['form'], string>>> = {
  lambda: 'written in place',
  'lambda-or-value': 'a lambda written in place, or a value',
  lazy: 'evaluated only if needed',
};

/** All names of forms in the table. */
export const formNames = (): ReadonlySet<string> =>
  new Set([...Object.keys(BASIC_FORMS), ...FUNCTION_ROWS.map((row) => row.name)]);

export const formsOf = (family: Family): readonly FormEntry[] =>
  Object.entries(family.docs).map(([name, docs]) => formEntry(name, docs, family));

export const allForms = (): readonly FormEntry[] => FAMILIES.flatMap(formsOf);

function formEntry(name: string, docs: FormDocs, family: Family): FormEntry {
  const rows = FUNCTION_ROWS.filter((row) => row.name === name);
  const variants =
    rows.length === 0
      ? [basicParameters(docs)]
      : rows.map((row) =>
          Object.entries(row.form).map(([key, { type, optional, form }]) => ({
            key,
            type,
            optional,
            ...(NOTES[form] && { note: NOTES[form] }),
          })),
        );
  return {
    name,
    family,
    docs,
    variants,
    effect: rows[0]?.declared ?? 'that of its arguments',
    since: rows[0]?.since ?? '2.0',
    builders: signaturesOf(name, variants[0] ?? []),
    errors: errorsOf(variants, docs),
  };
}

const basicParameters = ({ parameters = '' }: FormDocs): readonly FormParameter[] =>
  parameters.split('; ').map((each) => {
    const [key = '', type = ''] = each.split(': ');
    return { key, type, optional: false };
  });

/** The faults of the casts, without those that the docs describe more precisely, and the faults in the docs. */
function errorsOf(variants: FormEntry['variants'], { errors = [] }: FormDocs): FormEntry['errors'] {
  const isTold = (code: FaultCode): boolean =>
    code === 'invalid ref' && errors.some(([told]) => told === code);
  return [...castErrors(variants).filter(([code]) => !isTold(code)), ...errors];
}

const articled = (type: string): string => `${/^[AEIO]/.test(type) ? 'an' : 'a'} ${type}`;

/** Types without a cast: the parser checks the parameter, or it accepts everything. */
const UNCAST = /^(?:Any[+*]?|Bindings|Members|name|literal|Array, at least one)$/;

function castErrors(variants: FormEntry['variants']): FormEntry['errors'] {
  const parameters = new Map(variants.flat().map((each) => [each.key, each.type]));
  const cast = [...parameters].filter(([, type]) => !UNCAST.test(type));
  const refs = cast.filter(([, type]) => /\bRef|^Set$/.test(type));
  const wrong = cast.map(([key, type]) => `\`${key}\` is not ${articled(type)}`);
  const unknown = refs.map(([key]) => `\`${key}\` refers to something that does not exist`);
  return [
    ...(wrong.length > 0 ? [['invalid argument', wrong.join(', or ')] as const] : []),
    ...(unknown.length > 0 ? [['invalid ref', unknown.join(', or ')] as const] : []),
  ];
}

// --- builders -------------------------------------------------------------------------------------

/** Builders without a row, or with parameters that have a better name than their key. */
const SPECIAL: Readonly<Record<string, readonly string[]>> = {
  ref: ['Ref(collection, id)'],
  if: ['If(condition, then, otherwise)'],
  var: ['Var(name)'],
  abort: ['Abort(message)'],
  at: ['At(time, expression)'],
  max: ['Max(...values)'],
  min: ['Min(...values)'],
  merge: ['Merge(object, with, lambda?)'],
  login: ['Login(user, params)'],
  identify: ['Identify(user, password)'],
  logout: ['Logout(all)'],
  do: ['Do(...steps)'],
  object: ['Object(members)'],
  let: ['Let(bindings, body)'],
  paginate: ['Paginate(set, { size, after, before, cursor, ts, events, sources }?)'],
};

function signaturesOf(name: string, parameters: readonly FormParameter[]): readonly string[] {
  const special = SPECIAL[name];
  if (special) return special;
  return BUILDER_ROWS.filter((row) => row.keys[0]?.key === name).map((row) => {
    const type = parameters.find(({ key }) => key === name)?.type ?? '';
    const words = parametersOf(row, type).map(({ noun, mark }) => {
      if (mark === '*') return `...${noun}`;
      return mark === '' ? noun : `${noun}?`;
    });
    return `${row.name}(${(row.swapped ? words.reverse() : words).join(', ')})`;
  });
}
