/**
 * Two processes over one PostgreSQL, killed and cut off in the middle: what their clients saw is judged by the history checker.
 * BURROW_HISTORY_SECONDS sets how long (6), BURROW_SEED what is done.
 */
import { Client } from 'pg';
import { afterAll, expect, test } from 'vitest';
import { seedOf } from '../../src/engine/testing/random-source.ts';
import { checkAppends, type Operation } from '../testing/history-checker.ts';
import * as queries from '../testing/history-queries.ts';
import { freshTenant, sharedPostgres } from '../testing/hub-stores.ts';
import { buildQueryProcess, QueryProcess, removeBuilt } from '../testing/query-processes.ts';
import {
  isLinearizable,
  type RegisterCall,
  type RegisterOperation,
} from '../testing/register-checker.ts';

const SECONDS = Number(process.env['BURROW_HISTORY_SECONDS'] ?? 6);
const SEED = seedOf('BURROW_SEED');
const CLIENTS = 8;
const HOT_LISTS = 8;
const LIST_LENGTH_MAX = 40;
const REGISTER_CALLS_MAX = 60;

const postgres = sharedPostgres();
const processes: QueryProcess[] = [];
let built: string | undefined;
afterAll(async () => {
  await Promise.all(processes.map((each) => each.end()));
  if (built !== undefined) await removeBuilt(built);
});

/** Mulberry32: the same numbers for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

class Histories {
  readonly lists: Operation[] = [];
  readonly registers = new Map<number, RegisterOperation[]>();
  readonly sums: number[] = [];
  readonly names = new Map<string, number[]>();
  private readonly roll = random(SEED);
  private readonly appended = new Map<number, number>();
  private values = 0;
  private calls = 0;
  unknown = 0;

  async act(by: number, target: QueryProcess): Promise<void> {
    const kind = this.roll(10);
    if (kind < 5) await this.useLists(by, target);
    else if (kind < 7) await this.useBank(target);
    else if (kind < 9) await this.useRegister(target);
    else await this.takeName(by, target);
  }

  private async ask(target: QueryProcess, query: unknown) {
    const invoked = performance.now();
    const answered = await target.ask(query);
    const completed = performance.now();
    const isOk = answered?.status === 200 || answered?.status === 201;
    const { resource }: { resource?: unknown } = isOk ? JSON.parse(answered.body) : {};
    if (!isOk && answered?.status !== 400) this.unknown += 1;
    return { invoked, completed, isOk, resource, status: answered?.status };
  }

  private async useLists(by: number, target: QueryProcess): Promise<void> {
    const steps = Array.from({ length: 1 + this.roll(4) }, (): queries.PlannedStep => {
      const key = this.hotList();
      if (this.roll(2) === 0) return { kind: 'read', key };
      this.appended.set(key, (this.appended.get(key) ?? 0) + 1);
      return { kind: 'append', key, value: (this.values += 1) };
    });
    const { invoked, completed, isOk, resource } = await this.ask(
      target,
      queries.listTransaction(steps),
    );
    this.lists.push({
      id: this.lists.length,
      process: by,
      invoked,
      completed: isOk ? completed : Infinity,
      outcome: isOk ? 'ok' : 'info',
      steps: queries.stepsSeen(steps, isOk ? (resource as unknown[]) : undefined),
    });
  }

  /** Lists are hot, and short: one that is long enough gives its place to a new one. */
  private hotList(): number {
    let key = 1 + this.roll(HOT_LISTS);
    while ((this.appended.get(key) ?? 0) >= LIST_LENGTH_MAX) key += HOT_LISTS;
    return key;
  }

  private async useBank(target: QueryProcess): Promise<void> {
    if (this.roll(2) === 0) {
      const { isOk, resource } = await this.ask(target, queries.balances);
      if (isOk) this.sums.push((resource as number[]).reduce((a, b) => a + b, 0));
      return;
    }
    const from = 1 + this.roll(queries.ACCOUNT_COUNT);
    const to = 1 + ((from + this.roll(queries.ACCOUNT_COUNT - 1)) % queries.ACCOUNT_COUNT);
    if (from !== to) await this.ask(target, queries.transfer(from, to, 1 + this.roll(30)));
  }

  private async useRegister(target: QueryProcess): Promise<void> {
    const key = 1 + Math.floor((this.calls += 1) / REGISTER_CALLS_MAX);
    const kind = this.roll(3);
    const value = this.roll(5);
    const from = this.roll(5);
    const query =
      kind === 0
        ? queries.readRegister(key)
        : kind === 1
          ? queries.writeRegister(key, value)
          : queries.compareAndSet(key, from, value);
    const { invoked, completed, isOk, resource } = await this.ask(target, query);
    const call: RegisterCall =
      kind === 0
        ? { kind: 'read', value: isOk ? (resource as number) : -1 }
        : kind === 1
          ? { kind: 'write', value }
          : { kind: 'compare and set', from, to: value, isSet: resource === true };
    if (!isOk && kind === 0) return;
    const before = this.registers.get(key) ?? [];
    this.registers.set(key, before);
    before.push({ call, invoked, completed: isOk ? completed : Infinity });
  }

  private async takeName(by: number, target: QueryProcess): Promise<void> {
    // Few and shared: others take the same one now.
    const name = `name-${Math.floor(performance.now() / 50)}`;
    const { isOk } = await this.ask(target, queries.takeName(name, by));
    const takers = this.names.get(name) ?? [];
    this.names.set(name, takers);
    if (isOk) takers.push(by);
  }
}

const asked = async (target: QueryProcess, query: unknown): Promise<unknown> => {
  for (;;) {
    const answered = await target.ask(query);
    if (answered?.status === 200 || answered?.status === 201)
      return (JSON.parse(answered.body) as { resource: unknown }).resource;
    if (answered && answered.status < 500) throw new Error(answered.body);
  }
};

test(
  `two processes on one server are strictly serializable, also when killed (seed ${SEED})`,
  async () => {
    const { url } = await postgres();
    const tenant = freshTenant();
    built = await buildQueryProcess();
    for (let i = 0; i < 2; i += 1) processes.push(new QueryProcess(built, [url, tenant]));
    const [one, other] = processes;
    if (!one || !other) throw new Error('Two processes were started.');
    for (const query of queries.setUp) await asked(one, query);
    await asked(other, queries.balances);

    const histories = new Histories();
    const end = performance.now() + SECONDS * 1000;
    const client = async (by: number): Promise<void> => {
      while (performance.now() < end) await histories.act(by, by % 2 === 0 ? one : other);
    };
    const faults = { killed: 0, cut: 0 };
    const nemesis = async (): Promise<void> => {
      const admin = new Client({ connectionString: url });
      await admin.connect();
      for (let turn = 0; performance.now() < end; turn += 1) {
        await new Promise((resolve) => setTimeout(resolve, Math.min(2000, (SECONDS * 1000) / 4)));
        if (turn % 2 === 0) {
          await admin.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'burrow'",
          );
          faults.cut += 1;
        } else {
          await (turn % 4 === 1 ? one : other).kill();
          faults.killed += 1;
        }
      }
      await admin.end();
    };
    await Promise.all([...Array.from({ length: CLIENTS }, (_, by) => client(by)), nemesis()]);

    const keys = [...new Set(histories.lists.flatMap(({ steps }) => steps.map(({ key }) => key)))];
    const lists = (await asked(
      one,
      queries.listTransaction(keys.map((key) => ({ kind: 'read', key: Number(key) }))),
    )) as number[][];
    const final = new Map(keys.map((key, i) => [key, lists[i] ?? []]));
    expect(checkAppends(histories.lists, final)).toEqual([]);

    const total = queries.ACCOUNT_COUNT * queries.ACCOUNT_START;
    expect(histories.sums.filter((sum) => sum !== total)).toEqual([]);
    for (const balance of (await asked(one, queries.balances)) as number[])
      expect(balance).toBeGreaterThanOrEqual(0);
    for (const [key, operations] of histories.registers)
      expect(isLinearizable(operations, 0), `register ${key}`).toBe(true);

    const taken = (await asked(one, queries.namesTaken)) as [string, number][];
    expect(new Set(taken.map(([name]) => name)).size).toBe(taken.length);
    const winners = [...histories.names].filter(([, takers]) => takers.length > 0);
    for (const [name, takers] of winners) expect(taken, name).toContainEqual([name, ...takers]);
    const figures = {
      seconds: SECONDS,
      lists: histories.lists.length,
      registers: [...histories.registers.values()].reduce((sum, { length }) => sum + length, 0),
      sums: histories.sums.length,
      names: histories.names.size,
      unknown: histories.unknown,
      ...faults,
    };
    console.log(`[figures] history over two processes: ${JSON.stringify(figures)}`);
    expect(figures.lists).toBeGreaterThan(SECONDS * 2);
  },
  (SECONDS + 300) * 1000,
);
