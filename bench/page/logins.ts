/** What logging in costs, and what it costs the others. */
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

/** Medians of right, wrong and unknown, turn about. */
export async function measureLogins({ tries }: { readonly tries: number }) {
  const client = await openUsers();
  const attempts = {
    right: () => client.query(login('known@example.com', PASSWORD)),
    wrong: () => refused(client.query(login('known@example.com', 'not it'))),
    unknown: () => refused(client.query(login('nobody@example.com', PASSWORD))),
  };
  const ms: Record<string, number[]> = { right: [], wrong: [], unknown: [] };
  for (let turn = 0; turn < tries; turn++) {
    for (const [name, attempt] of Object.entries(attempts)) {
      const before = performance.now();
      await attempt();
      ms[name]?.push(performance.now() - before);
    }
  }
  return Object.fromEntries(Object.entries(ms).map(([name, each]) => [name, median(each)]));
}

/** Medians of a `Get`, one after the other, alone and while people log in. */
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
