/** A program that runs queries whose values grow, in a process with a limited heap. Its arguments are names of queries. */
import { BOMBS } from './bomb-queries.ts';
import { obj, type Query } from './engine-world.ts';
import { createTestEngine } from './fuzz-world.ts';
import { outcome, type Outcome } from './outcomes.ts';

/** The result of one query, and of a simple query after it on the same engine. */
export interface Explosion {
  readonly name: string;
  readonly answer: Outcome;
  readonly alive: Outcome;
  /** CPU time, ms. */
  readonly tookMs: number;
}

async function explode(name: string, query: Query): Promise<Explosion> {
  const engine = createTestEngine();
  await outcome(engine, { create_collection: obj({ name: 'c' }) });
  await outcome(engine, { create: { collection: 'c' } });
  const started = process.cpuUsage();
  const answer = await outcome(engine, query);
  const tookMs = Math.round(process.cpuUsage(started).user / 1000);
  return { name, answer, alive: await outcome(engine, { add: [1, 1] }), tookMs };
}

/** Runs the named queries in order, and prints one line for each. */
for (const name of process.argv.slice(2)) {
  console.log(JSON.stringify(await explode(name, BOMBS[name])));
}
