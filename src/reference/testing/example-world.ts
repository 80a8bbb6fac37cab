/** The database on which the examples of the reference run. It is small, and the same in every run. */
import { q } from '../../client/queries/builders.ts';
import { encodeQuery } from '../../client/queries/encode.ts';
import { EngineWorld } from '../../engine/testing/engine-world.ts';
import { SETUP } from '../example-setup.ts';
import { allForms, type FormEntry } from '../forms.ts';
import { printAnswer } from '../print-answer.ts';

/** 2026-06-01T12:00:00Z */
const MOMENT = 1_780_315_200_000_000;
const YEAR = 31_536_000_000_000;

/** The wire query of an example. */
export function wireOf(example: string): unknown {
  if (example.startsWith('{"')) return JSON.parse(example);
  // oxlint-disable-next-line typescript/no-implied-eval -- examples are programs, and ours
  const program = new Function(...Object.keys(q), `return ${example}`) as (
    ...builders: readonly unknown[]
  ) => unknown;
  return JSON.parse(encodeQuery(q.Let({}, program(...Object.values(q)) as string)))['in'];
}

interface Garden {
  readonly world: EngineWorld;
  readonly secret: string;
}

async function makeGarden(): Promise<Garden> {
  const world = new EngineWorld();
  // Earlier than the time at which the examples run, `MOMENT`.
  world.now = MOMENT - YEAR;
  await world.ask(wireOf('CreateDatabase({ name: "garden" })'));
  const key = wireOf('CreateKey({ role: "admin", database: Database("garden") })');
  const { secret } = await world.document(key);
  for (const step of SETUP) await world.ask(wireOf(step), { secret });
  return { world, secret };
}

let ofReaders: Promise<Garden> | undefined;

const WRITING = new Set(
  allForms().flatMap(({ name, effect }) => (effect === 'write' ? [name] : [])),
);

/**
 * Whether an example contains a form that may write. The effect of the outermost form does not show that: a `foreach`
 * is pure.
 */
const writes = (example: string): boolean =>
  [...JSON.stringify(wireOf(example)).matchAll(/"(\w+)":/g)].some(([, key = '']) =>
    WRITING.has(key),
  );

/** Runs an example and returns its printed answer. An example that may write gets a database of its own. */
export async function answerOf({ docs }: Pick<FormEntry, 'docs'>): Promise<string> {
  const { example, as } = docs;
  const isShared = !writes(docs.example) && as === undefined;
  const { world, secret } = await (isShared ? (ofReaders ??= makeGarden()) : makeGarden());
  const login = wireOf('Login(Ref(Collection("users"), "1"), { password: "correct horse" })');
  const asked = as === 'ada' ? (await world.document(login, { secret })).secret : secret;
  world.now = MOMENT - 1_000_000;
  return printAnswer((await world.answer(wireOf(example), { secret: asked })).body);
}
