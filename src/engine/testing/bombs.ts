/** Started with names of queries that grow as arguments, in a process whose heap is bounded, it lets them go off. */
import { BOMBS } from './bomb-queries.ts';
import { obj, type Query } from './engine-world.ts';
import { createTestEngine } from './fuzz-world.ts';
import { outcome, type Outcome } from './outcomes.ts';

/** How one ended. The engine was asked something simple after it. */
export interface Explosion {
  readonly name: string;
  readonly answer: Outcome;
  readonly alive: Outcome;
  /** Of a processor. */
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

/** Those named one after the other, each told on a line of standard output. */
for (const name of process.argv.slice(2)) {
  console.log(JSON.stringify(await explode(name, BOMBS[name])));
}
