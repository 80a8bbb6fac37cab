/** Measures the time of logins, and how much they slow down other queries. */
import { openDatabase, q, Unauthorized, BadRequest, type Client } from '../../src/index.ts';
import { median, timesOf } from './measure.ts';

const PASSWORD = 'correct horse battery staple';

async function openUsers(): Promise<Client> {
  const database = await openDatabase('users', { durability: 'relaxed' });
  const client = database.client();
  if (await client.query(q.Exists(q.Collection('users')))) return client;
  await client.query(q.CreateCollection({ name: 'users' }));
  await client.query(
    q.CreateIndex({
      name: 'users_by_email',
      source: q.Collection('users'),
      terms: [{ field: ['data', 'email'] }],
      unique: true,
    }),
  );
  await client.query(
    q.Create(q.Ref(q.Collection('users'), '1'), {
      credentials: { password: PASSWORD },
      data: { email: 'known@example.com' },
    }),
  );
  return client;
}

const login = (email: string, password: string) =>
  q.Login(q.Match(q.Index('users_by_email'), email), { password });

async function refused(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof BadRequest || error instanceof Unauthorized) return;
    throw error;
  }
  throw new Error('Wrong answer: the login was accepted.');
}

/** Number of wrong passwords per account and minute that are still compared. */
const TRIES_EACH = 4;

/** Creates users for each reason to fail: with more attempts per user, logins would be refused without a comparison. */
async function makePeople(client: Client, count: number): Promise<void> {
  const make = (kind: string, more: { readonly credentials?: { readonly password: string } }) => {
    const emails = Array.from({ length: count }, (_, i) => `${kind}${i}@example.com`);
    return client.query(
      q.Do(
        q.Foreach(emails, (email) => q.Create(q.Collection('users'), { data: { email }, ...more })),
        true,
      ),
    );
  };
  const known = { credentials: { password: PASSWORD } };
  await make('wrong', known);
  await make('long', known);
  await make('bare', {});
}

/** Medians of successful logins and of each reason to fail, alternating. */
export async function measureLogins({ tries }: { readonly tries: number }) {
  const client = await openUsers();
  await makePeople(client, Math.ceil(tries / TRIES_EACH));
  const fail = (kind: string, password: string) => (turn: number) => {
    const email = `${kind}${Math.floor(turn / TRIES_EACH)}@example.com`;
    return refused(client.query(login(email, password)));
  };
  const attempts = {
    right: () => client.query(login('known@example.com', PASSWORD)),
    wrong: fail('wrong', 'not it'),
    tooLong: fail('long', PASSWORD.repeat(4)),
    withoutPassword: fail('bare', PASSWORD),
    unknown: fail('nobody', PASSWORD),
  };
  const ms: Record<string, number[]> = Object.fromEntries(
    Object.keys(attempts).map((name) => [name, []]),
  );
  for (let turn = 0; turn < tries; turn++) {
    for (const [name, attempt] of Object.entries(attempts)) {
      const before = performance.now();
      await attempt(turn);
      ms[name]?.push(performance.now() - before);
    }
  }
  return Object.fromEntries(Object.entries(ms).map(([name, each]) => [name, median(each)]));
}

/** Medians of sequential `Get`s, alone and while users log in. */
export async function measureReadsBesideLogins({ logins }: { readonly logins: number }) {
  const client = await openUsers();
  const ref = q.Ref(q.Collection('users'), '1');
  const readUntil = async (isOver: () => boolean): Promise<number[]> => {
    const ms: number[] = [];
    while (!isOver()) {
      const before = performance.now();
      await client.query(q.Get(ref));
      ms.push(performance.now() - before);
    }
    return ms;
  };
  await readUntil(untilMs(300));
  const idle = await readUntil(untilMs(1500));
  let isDone = false;
  const people = (async () => {
    for (let person = 0; person < logins; person++) {
      await client.query(login('known@example.com', PASSWORD));
    }
    isDone = true;
  })();
  const beside = await readUntil(() => isDone);
  await people;
  return { idle: timesOf(idle), beside: timesOf(beside) };
}

function untilMs(ms: number): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() > end;
}
