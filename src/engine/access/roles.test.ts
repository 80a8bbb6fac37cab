import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { doc, type EngineWorld, type Query } from '../testing/engine-world.ts';
import { isOpen, seenBy, setQuery, wireOf, type SetQuery } from '../testing/role-sets.ts';
import {
  answerOf,
  history,
  IDS,
  roleOf,
  STEPS_MAX,
  timeOf,
  worldsOf,
  type Answer,
  type CollectionName,
  type ReadPolicy,
  type Role,
  workOf,
  type Worlds,
} from '../testing/role-worlds.ts';

/** To run more cases: `BURROW_ROLE_CASES=2000 npx vitest run --project node src/engine/access/roles.test.ts`. */
const CASES = Number(process.env['BURROW_ROLE_CASES'] ?? 300);
/** Questions for each pair of worlds. Creating worlds takes most of the time. */
const QUESTIONS = 6;
const RUNS = { numRuns: Math.ceil(CASES / QUESTIONS) };
const TIME = 300_000 + CASES * 200;

interface SetQuestion {
  readonly set: SetQuery;
  readonly how: 'paginate' | 'count' | 'exists' | 'is_empty' | 'contains_value' | 'first';
  readonly options: { readonly size: number; readonly events: boolean; readonly sources: boolean };
  readonly isReversed: boolean;
  /** A cursor from elsewhere, or the value to look for. */
  readonly value: number | { readonly of: CollectionName; readonly id: number } | undefined;
  readonly step: number | undefined;
}

const questionOf = (hasOpen: boolean): fc.Arbitrary<SetQuestion> =>
  fc.record({
    set: setQuery(hasOpen),
    how: fc.constantFrom<SetQuestion['how'][]>(
      'paginate',
      'paginate',
      'paginate',
      'count',
      'exists',
      'is_empty',
      'contains_value',
      'first',
    ),
    options: fc.record({
      size: fc.integer({ min: 1, max: 4 }),
      events: fc.boolean(),
      sources: fc.boolean(),
    }),
    isReversed: fc.boolean(),
    value: fc.option(
      fc.oneof(
        fc.nat(3),
        fc.record({
          of: fc.constantFrom<CollectionName[]>('c', 'd'),
          id: fc.integer({ min: 1, max: IDS }),
        }),
      ),
      { nil: undefined },
    ),
    step: fc.option(fc.nat(STEPS_MAX), { nil: undefined }),
  });

const atStep = (query: Query, step: number | undefined): Query =>
  step === undefined ? query : { at: timeOf(step), expr: query };

const valueOf = (value: SetQuestion['value']): Query =>
  typeof value === 'object' ? doc(value.of, value.id) : (value ?? 1);

function wireOfQuestion({ set, how, value, step }: SetQuestion): Query {
  const wire = wireOf(set);
  if (how === 'contains_value') return atStep({ contains_value: valueOf(value), in: wire }, step);
  return atStep({ [how]: wire }, step);
}

/** Reads all pages forwards, then backwards. */
async function pagesOf(
  w: EngineWorld,
  { set, options, value, step }: SetQuestion,
  as: 'admin' | 'role',
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const ask = async (cursor: Record<string, Query>): Promise<PageAnswer | undefined> => {
    const query = { paginate: wireOf(set), ...options, ...cursor };
    const answer = await answerOf(w, atStep(query, step), as);
    answers.push(answer);
    return answer.status < 300
      ? (JSON.parse(answer.body) as { resource: PageAnswer }).resource
      : undefined;
  };
  let page = await ask(value === undefined || options.events ? {} : { after: valueOf(value) });
  for (let i = 0; i < 4 && page?.after !== undefined; i += 1)
    page = await ask({ after: page.after });
  for (let i = 0; i < 2 && page?.before !== undefined; i += 1)
    page = await ask({ before: page.before });
  return answers;
}
interface PageAnswer {
  readonly before?: Query;
  readonly after?: Query;
}

/** The position of the fault when a reader may not read its set. */
const POSITIONS = { is_empty: 'exists', contains_value: 'in' } as const;

async function checkSet(worlds: Worlds, role: Role, asked: SetQuestion): Promise<void> {
  const { whole, seen } = worlds;
  const set: SetQuery = asked.isReversed ? { op: 'reverse', set: asked.set } : asked.set;
  const question = { ...asked, set };
  const shown = seenBy(role, set);
  if (!shown) {
    const query = wireOfQuestion(question);
    const key = POSITIONS[asked.how as 'is_empty'] ?? asked.how;
    expect(faultOf(await answerOf(whole, query, 'role'))).toEqual({
      code: 'permission denied',
      position: [...(asked.step === undefined ? [] : ['expr']), key],
    });
    return;
  }
  const other = isOpen(role, shown) ? whole : seen;
  const same = { ...question, set: shown };
  if (asked.how === 'paginate') {
    expect(await pagesOf(whole, question, 'role')).toEqual(await pagesOf(other, same, 'admin'));
    const query = { paginate: wireOf(set), ...question.options };
    if (other === seen) await checkWork(worlds, atStep(query, question.step));
    return;
  }
  expect(await answerOf(whole, wireOfQuestion(question), 'role')).toEqual(
    await answerOf(other, wireOfQuestion(same), 'admin'),
  );
  if (other === seen) await checkWork(worlds, wireOfQuestion(question));
}

/** Checks that a query costs the same in the world with hidden documents and in the one without them. */
async function checkWork({ whole, seen }: Worlds, query: Query): Promise<void> {
  expect(await workOf(whole, query)).toEqual(await workOf(seen, query));
}

function faultOf({ body }: Answer): unknown {
  const { errors = [] } = JSON.parse(body) as { errors?: { code: string; position: unknown }[] };
  return errors[0] && { code: errors[0].code, position: errors[0].position };
}

const property = (hasOpen: boolean) =>
  fc.asyncProperty(
    history,
    roleOf(hasOpen),
    fc.array(questionOf(hasOpen), { minLength: QUESTIONS, maxLength: QUESTIONS }),
    async (steps, role, questions) => {
      const worlds = await worldsOf(steps, role);
      for (const question of questions) await checkSet(worlds, role, question);
    },
  );

test(
  'set functions answer a role as if the documents it may not read had never existed',
  () => fc.assert(property(false), RUNS),
  TIME,
);

test(
  'unrestricted_read leaves a set unfiltered unless it is combined with a filtered set',
  () => fc.assert(property(true), RUNS),
  TIME,
);

interface DocumentQuestion {
  readonly of: CollectionName;
  readonly id: number;
  readonly step: number | undefined;
}
const documentQuestion: fc.Arbitrary<DocumentQuestion> = fc.record({
  of: fc.constantFrom<CollectionName[]>('c', 'd'),
  id: fc.integer({ min: 1, max: IDS }),
  step: fc.option(fc.nat(STEPS_MAX), { nil: undefined }),
});

test(
  'get, exists and events answer a role as if the documents it may not read had never existed',
  () =>
    fc.assert(
      fc.asyncProperty(
        history,
        roleOf(false),
        fc.array(documentQuestion, { minLength: QUESTIONS, maxLength: QUESTIONS }),
        async (steps, role, questions) => {
          const worlds = await worldsOf(steps, role);
          for (const question of questions) {
            await checkFirst(worlds, role, question);
            await checkDocument(worlds, role, question);
          }
        },
      ),
      RUNS,
    ),
  TIME,
);

const DENIED = 'permission denied';

async function checkDocument(
  { whole, seen, shows }: Worlds,
  role: Role,
  { of, id, step }: DocumentQuestion,
): Promise<void> {
  const mayRead = shows(of, id, role.read[of]);
  const prefix = step === undefined ? [] : ['expr'];
  const get = atStep({ get: doc(of, id) }, step);
  const exists = atStep({ exists: doc(of, id) }, step);
  const got = await answerOf(whole, get, 'role');
  expect(mayRead ? got : faultOf(got)).toEqual(
    mayRead ? await answerOf(seen, get, 'admin') : { code: DENIED, position: prefix },
  );
  expect(await answerOf(whole, exists, 'role')).toEqual(await answerOf(seen, exists, 'admin'));
  const events = atStep({ paginate: doc(of, id), events: true }, step);
  const told = await answerOf(whole, events, 'role');
  const mayTell = shows(of, id, role.history[of]);
  expect(mayTell ? told : faultOf(told)).toEqual(
    mayTell
      ? await answerOf(whole, events, 'admin')
      : { code: DENIED, position: [...prefix, 'paginate'] },
  );
}

/** `get` of a collection's documents returns the first readable one. If there is none, it fails as for a missing document. */
async function checkFirst(
  { whole, seen }: Worlds,
  role: Role,
  { of, step }: DocumentQuestion,
): Promise<void> {
  const get = atStep({ get: { documents: { collection: of } } }, step);
  const first = await answerOf(seen, get, 'admin');
  const told = await answerOf(whole, get, 'role');
  const decidesWithoutReading: readonly ReadPolicy[] = ['all', 'even'];
  const isShown = first.status === 200 || decidesWithoutReading.includes(role.read[of]);
  const position = step === undefined ? [] : ['expr'];
  expect(isShown ? told : faultOf(told)).toEqual(isShown ? first : { code: DENIED, position });
}
