/** `window.bench` of abuse.html: a page whose database is attacked while an innocent part of the page uses it. */
import { openDatabase, q, type Client } from '../../src/index.ts';
import { Expr } from '../../src/client/queries/values.ts';
import type { Experience } from '../abuse/innocent.ts';
import { prepare } from '../abuse/prepare.ts';
import { QUERIES } from '../abuse/queries.ts';
import { quantile, sleep, watchMainThread } from './measure.ts';

const ATTACKS_AT_ONCE = 4;
const EVERY_MS = 50;
const OUTSTANDING_MAX = 50;

let attacker: Client | undefined;
let innocent: Client | undefined;

async function open(): Promise<readonly string[]> {
  const database = await openDatabase('under-attack', { durability: 'relaxed' });
  const credentials = await prepare((query, secret) =>
    database
      .client(secret === undefined ? {} : { secret })
      .query<{ secret?: string }>(new Expr(query)),
  );
  attacker = database.client({ secret: credentials.attacker });
  innocent = database.client({ secret: credentials.innocent });
  return Object.keys(QUERIES);
}

/** Uses the database until the returned function is called. Does not wait for responses. */
function beInnocent(client: Client): () => Promise<Experience> {
  const queries: number[] = [];
  const pings: number[] = [];
  const failed: Record<string, number> = {};
  const outstanding = new Set<Promise<void>>();
  const note = (into: number[], query: Promise<unknown>): void => {
    const begun = performance.now();
    const done = query
      .then(
        () => void into.push(performance.now() - begun),
        (reason: unknown) => count(failed, codeOf(reason)),
      )
      .finally(() => outstanding.delete(done));
    outstanding.add(done);
  };
  const timer = setInterval(() => {
    if (outstanding.size >= OUTSTANDING_MAX) return;
    note(queries, client.query(q.Get(q.Ref(q.Collection('notes'), '1'))));
    note(pings, client.query(1));
  }, EVERY_MS);
  return async () => {
    clearInterval(timer);
    await Promise.all(outstanding);
    return {
      count: queries.length + pings.length,
      queryP95: quantile(queries, 0.95),
      queryMax: quantile(queries, 1),
      pingP95: quantile(pings, 0.95),
      pingMax: quantile(pings, 1),
      failed,
    };
  };
}

const codeOf = (reason: unknown): string =>
  String((reason as { readonly code?: unknown }).code ?? reason);

const count = (into: Record<string, number>, name: string): void => {
  into[name] = (into[name] ?? 0) + 1;
};

/** Sends a query again and again, then aborts those still in progress. Resolves to the number of responses by code. */
async function keepAttacking(name: string, ms: number): Promise<Readonly<Record<string, number>>> {
  const query = new Expr(QUERIES[name]?.());
  const answers: Record<string, number> = {};
  const stop = new AbortController();
  const { signal } = stop;
  const attack = async (): Promise<void> => {
    while (!signal.aborted)
      await opened(attacker)
        .query(query, { signal })
        .then(
          () => count(answers, 'answered'),
          (reason: unknown) => {
            if (reason !== signal.reason) count(answers, codeOf(reason));
          },
        );
  };
  const attacks = Array.from({ length: ATTACKS_AT_ONCE }, attack);
  await sleep(ms);
  stop.abort();
  await Promise.all(attacks);
  return answers;
}

function opened<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('The database is not open.');
  return part;
}

/**
 * What the innocent part of the page observes, first without the attack. `gap`: the longest time in which the page itself could not run.
 */
async function measureUnderAttack(name: string, ms: number) {
  const client = opened(innocent);
  const before = beInnocent(client);
  await sleep(ms / 2);
  await before();
  const calm = beInnocent(client);
  await sleep(ms);
  const quiet = await calm();
  const { value, gap } = await watchMainThread(async () => {
    const tell = beInnocent(client);
    const answers = await keepAttacking(name, ms);
    return { answers, under: await tell() };
  });
  return { quiet, ...value, gap };
}

Object.assign(window, { bench: { open, measureUnderAttack } });
