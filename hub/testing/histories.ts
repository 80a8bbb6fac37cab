/** Test kit: clients run random transactions against a database and record what they saw, which is checked afterwards. */
import { expect } from 'vitest';
import { RandomSource } from '../../src/engine/testing/random-source.ts';
import { checkAppends, type Operation } from './history-checker.ts';
import * as queries from './history-queries.ts';
import type { Answered } from './query-process.ts';
import { isLinearizable, type RegisterCall, type RegisterOperation } from './register-checker.ts';

const HOT_LISTS = 8;
const LIST_LENGTH_MAX = 40;
const REGISTER_CALLS_MAX = 60;

/** A target to which queries are sent. */
export interface QueryTarget {
  /** @returns undefined if the target ended before it answered */
  ask(query: unknown): Promise<Pick<Answered, 'status' | 'body'> | undefined>;
}

export class Histories {
  readonly lists: Operation[] = [];
  readonly registers = new Map<number, RegisterOperation[]>();
  readonly sums: number[] = [];
  readonly names = new Map<string, number[]>();
  private readonly roll: (below: number) => number;
  private readonly appended = new Map<number, number>();
  private values = 0;
  private calls = 0;
  unknown = 0;

  constructor(seed: number) {
    const random = new RandomSource(seed);
    this.roll = (below) => random.below(below);
  }

  async act(by: number, target: QueryTarget): Promise<void> {
    const kind = this.roll(10);
    if (kind < 5) await this.useLists(by, target);
    else if (kind < 7) await this.useBank(target);
    else if (kind < 9) await this.useRegister(target);
    else await this.takeName(by, target);
  }

  private async ask(target: QueryTarget, query: unknown) {
    const invoked = performance.now();
    const answered = await target.ask(query);
    const completed = performance.now();
    const isOk = answered?.status === 200 || answered?.status === 201;
    const { resource }: { resource?: unknown } = isOk ? JSON.parse(answered.body) : {};
    if (!isOk && answered?.status !== 400) this.unknown += 1;
    return { invoked, completed, isOk, resource, status: answered?.status };
  }

  private async useLists(by: number, target: QueryTarget): Promise<void> {
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

  /** Returns the key of a list that many clients use. A list that is long enough is replaced by a new one. */
  private hotList(): number {
    let key = 1 + this.roll(HOT_LISTS);
    while ((this.appended.get(key) ?? 0) >= LIST_LENGTH_MAX) key += HOT_LISTS;
    return key;
  }

  private async useBank(target: QueryTarget): Promise<void> {
    if (this.roll(2) === 0) {
      const { isOk, resource } = await this.ask(target, queries.balances);
      if (isOk) this.sums.push((resource as number[]).reduce((a, b) => a + b, 0));
      return;
    }
    const from = 1 + this.roll(queries.ACCOUNT_COUNT);
    const to = 1 + ((from + this.roll(queries.ACCOUNT_COUNT - 1)) % queries.ACCOUNT_COUNT);
    if (from !== to) await this.ask(target, queries.transfer(from, to, 1 + this.roll(30)));
  }

  private async useRegister(target: QueryTarget): Promise<void> {
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

  private async takeName(by: number, target: QueryTarget): Promise<void> {
    // There are few names at any time, so several clients try to take the same one.
    const name = `name-${Math.floor(performance.now() / 50)}`;
    const { isOk } = await this.ask(target, queries.takeName(name, by));
    const takers = this.names.get(name) ?? [];
    this.names.set(name, takers);
    if (isOk) takers.push(by);
  }
}

/** Repeats the query until it is answered. @throws Error when it is refused */
export const asked = async (target: QueryTarget, query: unknown): Promise<unknown> => {
  for (;;) {
    const answered = await target.ask(query);
    if (answered?.status === 200 || answered?.status === 201)
      return (JSON.parse(answered.body) as { resource: unknown }).resource;
    if (answered && answered.status < 500) throw new Error(answered.body);
  }
};

/** Expects that what the clients saw, and the final state, could result from executing the transactions one after the other. */
export async function expectSerializable(histories: Histories, target: QueryTarget): Promise<void> {
  const keys = [...new Set(histories.lists.flatMap(({ steps }) => steps.map(({ key }) => key)))];
  const lists = (await asked(
    target,
    queries.listTransaction(keys.map((key) => ({ kind: 'read', key: Number(key) }))),
  )) as number[][];
  const final = new Map(keys.map((key, i) => [key, lists[i] ?? []]));
  expect(checkAppends(histories.lists, final)).toEqual([]);

  const total = queries.ACCOUNT_COUNT * queries.ACCOUNT_START;
  expect(histories.sums.filter((sum) => sum !== total)).toEqual([]);
  for (const balance of (await asked(target, queries.balances)) as number[])
    expect(balance).toBeGreaterThanOrEqual(0);
  for (const [key, operations] of histories.registers)
    expect(isLinearizable(operations, 0), `register ${key}`).toBe(true);

  const taken = (await asked(target, queries.namesTaken)) as [string, number][];
  expect(new Set(taken.map(([name]) => name)).size).toBe(taken.length);
  const winners = [...histories.names].filter(([, takers]) => takers.length > 0);
  for (const [name, takers] of winners) expect(taken, name).toContainEqual([name, ...takers]);
}

/** The number of operations of each kind. */
export const figuresOf = ({ lists, registers, sums, names, unknown }: Histories) => ({
  lists: lists.length,
  registers: [...registers.values()].reduce((sum, { length }) => sum + length, 0),
  sums: sums.length,
  names: names.size,
  unknown,
});
