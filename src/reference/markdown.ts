/** The pages of the reference, as Markdown. */
import { lookup } from '../query/table.ts';
import { DIFFERENCES } from './differences.ts';
import { FAMILIES } from './families.ts';
import type { Family } from './form-docs.ts';
import { formsOf, type FormEntry, type FormParameter } from './forms.ts';
import { LANGUAGE } from './language.ts';

/** Answers of the examples, by the name of the form. */
export type Answers = ReadonlyMap<string, string>;

const MADE = '<!-- Made by `npm run docs` from the table of forms. Do not edit. -->\n';

export function familyPage(family: Family, answers: Answers): string {
  const forms = formsOf(family);
  const links = forms.map(({ name }) => `[\`${name}\`](#${name})`).join(' · ');
  const sections = forms.map((form) => formSection(form, answers.get(form.name) ?? ''));
  return [
    `${MADE}\n# ${family.title}`,
    `${family.about}\n\n[All pages](README.md)`,
    links,
    ...sections,
  ]
    .join('\n\n')
    .concat('\n');
}

function formSection(form: FormEntry, answer: string): string {
  const { name, docs, builders, errors } = form;
  const facts = [
    `**Gives** ${docs.result}`,
    `**effect** ${form.effect}`,
    `**since** version ${form.since}`,
  ];
  return [
    `## ${name}`,
    docs.summary,
    builders.length > 0
      ? builders.map((each) => `\`${each}\``).join(' or ')
      : 'No builder: written as wire JSON.',
    ...form.variants.map(parameterTable),
    facts.join(' · '),
    ...(errors.length > 0 ? [errorList(errors)] : []),
    exampleBlock(docs.example, answer),
  ].join('\n\n');
}

const parameterTable = (parameters: readonly FormParameter[]): string =>
  [
    '| wire key | takes | |',
    '|---|---|---|',
    ...parameters.map(({ key, type, optional, note }) => {
      const remarks = [...(optional ? ['optional'] : []), ...(note === undefined ? [] : [note])];
      return `| \`${key}\` | ${type} | ${remarks.join('; ')} |`;
    }),
  ].join('\n');

const errorList = (errors: FormEntry['errors']): string =>
  ['Fails with', ...errors.map(([code, when]) => `- \`${code}\`: ${when}`)].join('\n');

function exampleBlock(example: string, answer: string): string {
  const language = example.startsWith('{') ? 'json5' : 'js';
  const commented = answer.split('\n').map((line) => `// ${line}`);
  return `\`\`\`${language}\n${example}\n${commented.join('\n')}\n\`\`\``;
}

/** What each type of a parameter accepts. Spec: functions 0, "Casts". */
const CASTS: readonly (readonly [type: string, accepts: string])[] = [
  ['Any', 'every value, also refs to what does not exist'],
  [
    'Integer, Number, Boolean, String, Object, Array, Null',
    'values of that type and no others: a Double is no Integer, a document no Object',
  ],
  [
    'Lambda',
    '`Lambda("x", …)` or a function of JavaScript, written in place; a function’s parameters become its variables',
  ],
  ['Scalar', 'null, Booleans, numbers, strings, bytes, times, dates, UUIDs, actions, refs'],
  [
    'Time',
    'a Time, or an Integer of microseconds since 1970; of `get` and `paginate` also a string of digits',
  ],
  ['Temporal', 'a Time or a Date'],
  [
    'Unit',
    '`day`, `half day`, `hour`, `minute`, `second`, `millisecond`, `microsecond`, `nanosecond`, also in the plural',
  ],
  [
    'Ref, Collection Ref, Index Ref, Function Ref, Database Ref',
    'a ref, to something of that kind, that exists',
  ],
  ['RefOrSet', 'a ref or a set; `Collections()` and its like count as sets'],
  ['Set', 'a set, or `Collections()` and its like'],
  ['Iterable', 'an Array, Page or set'],
  ['SetOrArray', 'an Array or set, but no Page'],
  ['Term', 'any value but a ref to what does not exist'],
  ['Path', 'a String or an Integer, or an array of them'],
  [
    'Cursor',
    'a value or an array that begins like an entry of the set; of events an event, a Time or an Integer',
  ],
  ['Regex', 'a String that is a pattern'],
  ['X\\*', 'one X, or an array of them'],
  ['X+', 'one X, or an array of at least one'],
];

export function indexPage(setup: readonly string[]): string {
  const families = FAMILIES.map((family) => {
    const names = formsOf(family).map(({ name }) => `[\`${name}\`](${family.file}.md#${name})`);
    return `**[${family.title}](${family.file}.md)**\n${names.join(' ')}`;
  });
  return `${MADE}
# The language

Every form of FQL v4, each with an example that a test runs and whose answer is the real one. Coverage: ${coverageOf(FAMILIES)} forms.
What differs from the original on purpose: [differences](differences.md).

A query is JSON: an object whose keys are those of a form calls it, in any order of keys. The builders of \`q\` write that JSON, by the names and in the
order of arguments of the original driver. Arguments are expressions; a plain object of JavaScript becomes \`{"object": …}\`. An optional key is left out,
not null: null is a value like any other and is cast. Two builders make no form of their own: \`Lambda(parameters, body)\`, which stands where a lambda is
asked for, and \`Bytes(bytes)\`, which writes \`{"@bytes": …}\`.

**Effect** is what a form may do, for places that allow only some: bindings of an index are pure, filters of sets may read, \`GET\` and streams may
read. **Since** is the first value of the header \`X-FaunaDB-API-Version\` at which the form is known; before it is an unknown form.

Any argument may fail by itself, and then that error is the answer. A fault of an argument stands at its key: \`["sqrt"]\`.

## What parameters take

| type | accepts |
|---|---|
${CASTS.map(([type, accepts]) => `| ${type} | ${accepts} |`).join('\n')}

## Forms

${families.join('\n\n')}

## What the examples run on

Each example runs alone on a database made by these queries, at noon of 2026-06-01 UTC, with an admin key; those of who is asking with a token of Ada.

\`\`\`js
${setup.join('\n')}
\`\`\`
`;
}

export function differencesPage(): string {
  const rows = DIFFERENCES.map(
    ({ area, here, original, why }) =>
      `## ${area}\n\n${here}\n\n- In the original: ${original}\n- Why: ${why}`,
  );
  return `${MADE}\n# What differs from the original, on purpose\n\n${rows.join('\n\n')}\n`;
}

const isKnown = (name: string, family: Family): boolean =>
  formsOf(family).some(
    (form) =>
      form.name === name &&
      lookup(new Map(requiredKeys(form).map((key) => [key, undefined])), '4') !== undefined,
  );

const requiredKeys = ({ variants: [parameters = []] }: FormEntry): readonly string[] =>
  parameters.flatMap(({ key, optional }) => (optional ? [] : [key]));

function coverageOf(families: readonly Family[]): string {
  const listed = families.flatMap((family) =>
    (LANGUAGE[family.file] ?? []).map((name) => isKnown(name, family)),
  );
  return `${listed.filter(Boolean).length} of ${listed.length}`;
}

/** For the README: how much of the specification's list is in the table, and where what differs is told. */
export function coverageTable(): string {
  const rows = FAMILIES.map(
    (family) => `| [${family.title}](docs/reference/${family.file}.md) | ${coverageOf([family])} |`,
  );
  const areas = DIFFERENCES.map(({ area }) => area[0]?.toLowerCase() + area.slice(1)).join(', ');
  return `| | forms |
|---|---|
${rows.join('\n')}
| **All**, each with a tested example | **${coverageOf(FAMILIES)}** |

On purpose different from the original, each with its reason in [docs/reference/differences.md](docs/reference/differences.md): ${areas}.`;
}
