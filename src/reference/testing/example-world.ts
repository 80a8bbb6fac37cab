/** The database that the examples of the reference are run on: small, and the same at every run. */
import { q } from '../../client/queries/builders.ts';
import { encodeQuery } from '../../client/queries/encode.ts';
import { EngineWorld } from '../../engine/testing/engine-world.ts';
import type { FormEntry } from '../forms.ts';
import { printAnswer } from '../print-answer.ts';

/** 2026-06-01T12:00:00Z */
const MOMENT = 1_780_315_200_000_000;
const YEAR = 31_536_000_000_000;

/** As the index of the reference shows it. */
export const SETUP: readonly string[] = [
  'CreateCollection({ name: "users" })',
  'CreateCollection({ name: "notes" })',
  `Create(Ref(Collection("users"), "1"), {
  data: { name: "Ada", email: "ada@example.org" }, credentials: { password: "correct horse" } })`,
  'Create(Ref(Collection("users"), "2"), { data: { name: "Ben", email: "ben@example.org" } })',
  `Create(Ref(Collection("notes"), "101"), { data: {
  title: "Heron at dawn", tags: ["bird", "river"], stars: 5, author: Ref(Collection("users"), "1") } })`,
  `Create(Ref(Collection("notes"), "102"), { data: {
  title: "Red fox", tags: ["mammal"], stars: 3, author: Ref(Collection("users"), "2") } })`,
  `Create(Ref(Collection("notes"), "103"), { data: {
  title: "Kingfisher", tags: ["bird"], stars: 4, author: Ref(Collection("users"), "1") } })`,
  'CreateIndex({ name: "notes_by_tag", source: Collection("notes"), terms: [{ field: ["data", "tags"] }] })',
  'CreateIndex({ name: "notes_by_author", source: Collection("notes"), terms: [{ field: ["data", "author"] }] })',
  `CreateIndex({ name: "notes_by_stars", source: Collection("notes"),
  values: [{ field: ["data", "stars"] }, { field: ["data", "title"] }, { field: ["ref"] }] })`,
  'CreateIndex({ name: "users_by_email", source: Collection("users"), unique: true, terms: [{ field: ["data", "email"] }] })',
  'CreateFunction({ name: "double", body: Query(Lambda("x", Multiply(Var("x"), 2))) })',
  'CreateRole({ name: "reader", privileges: [{ resource: Collection("notes"), actions: { read: true } }] })',
  'CreateDatabase({ name: "shop" })',
  'CreateDatabase({ name: "cellar" })',
];

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
  // Before the moment that all examples are asked at, so that only they depend on it.
  world.now = MOMENT - YEAR;
  await world.ask(wireOf('CreateDatabase({ name: "garden" })'));
  const key = wireOf('CreateKey({ role: "admin", database: Database("garden") })');
  const { secret } = await world.document(key);
  for (const step of SETUP) await world.ask(wireOf(step), { secret });
  return { world, secret };
}

let ofReaders: Promise<Garden> | undefined;

/** Runs the example, on a database of its own if it may write, and gives the answer as it is printed. */
export async function answerOf({ docs, effect }: FormEntry): Promise<string> {
  const { example, as } = docs;
  const reads = (effect === 'pure' || effect === 'read') && as === undefined;
  const { world, secret } = await (reads ? (ofReaders ??= makeGarden()) : makeGarden());
  const login = wireOf('Login(Ref(Collection("users"), "1"), { password: "correct horse" })');
  const asked = as === 'ada' ? (await world.document(login, { secret })).secret : secret;
  world.now = MOMENT - 1_000_000;
  return printAnswer((await world.answer(wireOf(example), { secret: asked })).body);
}
