/** The schema of all simulations: users, their accounts and notes, marks of writes, unique names; and how an administrator changes it. */
import type { EngineWorld } from '../../../engine/testing/engine-world.ts';

export const ACCOUNTS = 4;
export const TOTAL = ACCOUNTS * 100;
/** A text that occurs nowhere else, so that a leak is found. */
export const PASSWORD = 'canary-5c1f-password';

export const coll = (name: string) => ({ collection: name });
export const obj = (fields: Record<string, unknown>) => ({ object: fields });
export const data = (fields: Record<string, unknown>) => obj({ data: obj(fields) });
export const userRef = (user: number) => ({ ref: coll('users'), id: String(user + 1) });
/** Built as text, because a plain object with `then` would count as a promise. */
export const when = (condition: unknown, yes: unknown, no: unknown): unknown =>
  JSON.parse(
    `{"if":${JSON.stringify(condition)},"then":${JSON.stringify(yes)},"else":${JSON.stringify(no)}}`,
  );
const path = (...field: string[]) => obj({ field });

/** The settings that may change during a simulation. */
export interface Rules {
  seesShared: boolean;
  mayTransfer: boolean;
  hasTextIndex: boolean;
  /** Whether the function `audit` has a role of its own. */
  isAuditOwn: boolean;
  /** Version of the body of `tally`. */
  tally: number;
}

export const firstRules = (): Rules => ({
  seesShared: true,
  mayTransfer: true,
  hasTextIndex: false,
  isAuditOwn: true,
  tally: 1,
});

export async function makeSchema(
  world: EngineWorld,
  users: number,
  rules: Rules,
): Promise<readonly string[]> {
  for (const name of ['users', 'accounts', 'notes', 'marks', 'traps', 'names'])
    await world.ask({ create_collection: obj({ name }) });
  const index = (name: string, source: string, field: string, more = {}) =>
    world.ask({
      create_index: obj({ name, source: coll(source), terms: [path('data', field)], ...more }),
    });
  await index('notes_by_owner', 'notes', 'owner');
  await index('shared_notes', 'notes', 'shared');
  await index('marks_by_name', 'marks', 'mark');
  await index('names_by_text', 'names', 'text', { unique: true });
  await world.ask({ create: { ref: coll('traps'), id: '1' }, params: obj({}) });
  for (let i = 0; i < ACCOUNTS; i++)
    await world.ask({
      create: { ref: coll('accounts'), id: String(i) },
      params: data({ balance: 100 }),
    });
  await world.ask({ create_function: obj({ name: 'tally', body: tallyBody(rules.tally) }) });
  await world.ask({ create_function: obj({ name: 'audit', body: tallyBody(0), role: 'admin' }) });
  await world.ask({ create_role: obj({ name: 'member', ...memberRole(rules) }) });
  const secrets: string[] = [];
  for (let i = 0; i < users; i++) {
    const credentials = obj({ password: PASSWORD });
    await world.ask({ create: userRef(i), params: obj({ credentials }) });
    secrets.push(await logIn(world, i));
  }
  return secrets;
}

/** @param seconds how long the login lasts; if absent, forever */
export async function logIn(world: EngineWorld, user: number, seconds?: number): Promise<string> {
  const ttl =
    seconds === undefined
      ? {}
      : { ttl: { time_add: { now: null }, offset: seconds, unit: 'seconds' } };
  const params = obj({ password: PASSWORD, ...ttl });
  const token = await world.document({ login: userRef(user), params });
  return token.secret;
}

/** Creates the mark of a write, with the version of the function. */
export const tallyBody = (version: number) => ({
  query: {
    lambda: ['mark', 'owner'],
    expr: {
      create: coll('marks'),
      params: data({ mark: { var: 'mark' }, owner: { var: 'owner' }, version }),
    },
  },
});

const privilege = (resource: unknown, actions: Record<string, unknown>) =>
  obj({ resource, actions: obj(actions) });

const ownerIsMe = (ref: unknown) => ({
  equals: [{ select: ['data', 'owner'], from: { get: ref } }, { current_identity: null }],
});

export function memberRole({ seesShared, mayTransfer, hasTextIndex }: Rules) {
  const isShared = { select: ['data', 'shared'], from: { get: { var: 'ref' } }, default: false };
  const mine = ownerIsMe({ var: 'ref' });
  const readNote = {
    query: { lambda: 'ref', expr: { or: [mine, ...(seesShared ? [isShared] : [])] } },
  };
  const readMark = { query: { lambda: 'ref', expr: mine } };
  return {
    membership: [obj({ resource: coll('users') })],
    privileges: [
      privilege(coll('accounts'), { read: true, write: mayTransfer }),
      privilege(coll('notes'), { read: readNote, create: true, write: true, delete: true }),
      privilege(coll('marks'), { read: readMark, create: true }),
      privilege(coll('names'), { read: true, create: true }),
      privilege(coll('traps'), { read: true }),
      ...['notes_by_owner', 'shared_notes', 'marks_by_name', 'names_by_text'].map((name) =>
        privilege({ index: name }, { read: true }),
      ),
      ...(hasTextIndex ? [privilege({ index: 'notes_by_text' }, { read: true })] : []),
      privilege({ function: 'tally' }, { call: true }),
      privilege({ function: 'audit' }, { call: true }),
    ],
  };
}

/** Updates the role to the present rules. */
export async function putRole(world: EngineWorld, rules: Rules): Promise<void> {
  const { privileges } = memberRole(rules);
  await world.ask({ update: { role: 'member' }, params: obj({ privileges }) });
}

export async function putFunctions(world: EngineWorld, rules: Rules): Promise<void> {
  const tally = { body: tallyBody(rules.tally) };
  await world.ask({ update: { function: 'tally' }, params: obj(tally) });
  const role = rules.isAuditOwn ? 'admin' : null;
  await world.ask({ update: { function: 'audit' }, params: obj({ role }) });
}

/** The index is created before the role is updated, and deleted after that: a role cannot name an index that does not exist. */
export async function putTextIndex(world: EngineWorld, rules: Rules): Promise<void> {
  const name = 'notes_by_text';
  if (rules.hasTextIndex) {
    const terms = [path('data', 'text')];
    await world.ask({ create_index: obj({ name, source: coll('notes'), terms }) });
    await putRole(world, rules);
  } else {
    await putRole(world, rules);
    await world.ask({ delete: { index: name } });
  }
}
