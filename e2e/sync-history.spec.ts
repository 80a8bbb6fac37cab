/** The history checker judges what four tabs in two browsers observed for some seconds over an unreliable network. */
import { expect, type Page } from '@playwright/test';
import { checkAppends, type Operation } from '../hub/testing/history-checker.ts';
import { print } from './support/app-test.ts';
import { loadApp } from './support/browser-profile.ts';
import { call, note } from './support/sync-hub.ts';
import { openSynced } from './support/sync-page.ts';
import { ALICE, BOB, test } from './support/sync-test.ts';

const LISTS = 8;
const SECONDS = 10;
/** Minimum number of transactions per tab. */
const AT_LEAST = 40;

interface Seen {
  readonly operations: readonly Omit<Operation, 'id' | 'process'>[];
  /** Ids of writes and the hub's times in their verdicts, in the order in which they were submitted. */
  readonly verdicts: readonly (readonly [id: string, ts: number])[];
  /** Descriptions of violated session guarantees. */
  readonly broken: readonly string[];
}

/** Executes transactions of one to four steps, some of them before the previous one has its verdict. */
const work = (page: Page, tab: number): Promise<Seen> =>
  page.evaluate(
    async ({ tab, lists, seconds, atLeast }) => {
      const { q } = burrow;
      let seed = tab * 7919 + 17;
      const chance = (below: number): number => {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
        // The low bits of this generator have a short period.
        return Math.floor(seed / 65_536) % below;
      };
      const now = (): number => performance.timeOrigin + performance.now();
      const refTo = (key: string) => q.Ref(q.Collection('notes'), key);
      const valuesOf = (key: string) => q.Select(['data', 'values'], q.Get(refTo(key)));
      const operations: Seen['operations'][number][] = [];
      const verdicts: [string, number][] = [];
      const broken: string[] = [];
      /** Values that this tab must see from now on: its own appends, and values that a verdict has reported. */
      const known = new Map<string, Set<number>>();
      const mustSee = (key: string, values: readonly number[]): void => {
        const all = known.get(key) ?? new Set();
        for (const value of values) all.add(value);
        known.set(key, all);
      };
      let last = 0;
      const one = async (): Promise<{ readonly judged: Promise<void> }> => {
        const steps = Array.from({ length: 1 + chance(4) }, () => {
          const key = String(1 + chance(lists));
          if (chance(2) === 0) return { kind: 'read', key } as const;
          last += 1;
          return { kind: 'append', key, value: tab * 1_000_000 + last } as const;
        });
        const expressions = steps.map((step) =>
          step.kind === 'read'
            ? valuesOf(step.key)
            : q.Do(
                q.Update(refTo(step.key), {
                  data: { values: q.Append([step.value], valuesOf(step.key)) },
                }),
                true,
              ),
        );
        const invoked = now();
        const { id, settled } = await sync.client.submit(expressions);
        for (const step of steps) if (step.kind === 'append') mustSee(step.key, [step.value]);
        const own: [string, number] = [id, 0];
        verdicts.push(own);
        const judged = settled.then((verdict) => {
          own[1] = verdict.ts;
          const isRefused = verdict.state === 'refused';
          const found = (isRefused ? [] : (verdict.value ?? [])) as (readonly number[] | true)[];
          operations.push({
            invoked,
            // The clocks of two pages differ slightly.
            completed: now() + 10,
            outcome: isRefused ? 'fail' : 'ok',
            steps: steps.map((step, i) =>
              step.kind === 'read'
                ? { ...step, values: isRefused ? [] : (found[i] as readonly number[]) }
                : step,
            ),
          });
        });
        return { judged };
      };
      const look = async (): Promise<void> => {
        const key = String(1 + chance(lists));
        const must = [...(known.get(key) ?? [])];
        const values = new Set((await sync.client.query(valuesOf(key))) as number[]);
        const missing = must.filter((value) => !values.has(value));
        if (missing.length > 0) broken.push(`list ${key} lacks ${missing.join(', ')}`);
        mustSee(key, []);
      };
      const waiting: Promise<void>[] = [];
      const end = now() + seconds * 1000;
      // A slow machine needs more time for enough transactions.
      while (now() < end || verdicts.length < atLeast) {
        const { judged } = await one();
        await look();
        if (chance(3) === 0) await judged;
        else waiting.push(judged);
        await new Promise((resolve) => setTimeout(resolve, chance(40)));
      }
      await Promise.all(waiting);
      await look();
      return { operations, verdicts, broken };
    },
    { tab, lists: LISTS, seconds: SECONDS, atLeast: AT_LEAST },
  );

test('the history of four tabs is serializable, and each tab always sees its own writes (L2, S8)', async ({
  page,
  context,
  hub,
  other,
}) => {
  for (let key = 1; key <= LISTS; key++)
    await hub.admin.query(call('Create', note(String(key)), { data: { values: [], text: '' } }));
  const tabs: Page[] = [];
  for (const [first, secret] of [
    [page, await hub.token(ALICE)],
    [other, await hub.token(BOB)],
  ] as const) {
    await openSynced(first, { url: hub.url, secret });
    const second = await (first === page ? context : first.context()).newPage();
    await loadApp(second);
    await openSynced(second, { url: hub.url });
    await second.evaluate(() => sync.whenSynced());
    tabs.push(first, second);
  }
  let n = 0;
  hub.proxy.judge = ({ path }) => {
    n += 1;
    if (path.startsWith('/sync/events')) return 'none';
    if (n % 17 === 0) return 'drop';
    if (n % 23 === 0) return { cutAnswerAt: 20 };
    return n % 11 === 0 ? 'twice' : 'none';
  };
  const seen = await Promise.all(tabs.map((tab, i) => work(tab, i + 1)));
  hub.proxy.judge = () => 'none';

  const operations: Operation[] = seen
    .flatMap((each) => each.operations)
    // Transactions of one tab overlap, so each counts as a process of its own.
    .map((each, id) => ({ ...each, id, process: id }));
  const final = new Map<string, readonly number[]>();
  for (let key = 1; key <= LISTS; key++) {
    const { data } = await hub.admin.query(call('Get', note(String(key))));
    final.set(String(key), (data as { values: number[] }).values);
  }
  print('history of four tabs', {
    transactions: operations.length,
    appended: [...final.values()].reduce((sum, { length }) => sum + length, 0),
    refused: operations.filter(({ outcome }) => outcome === 'fail').length,
  });
  expect(seen.flatMap(({ broken }) => broken)).toEqual([]);
  expect(checkAppends(operations, final)).toEqual([]);
  expect(operations.length).toBeGreaterThan(50);
  expect([...final.values()].flat().length).toBeGreaterThan(50);
  // S2: writes of one device take effect in the order of their numbers.
  for (const pair of [seen.slice(0, 2), seen.slice(2)]) {
    const ofDevice = pair.flatMap(({ verdicts }) => verdicts);
    const bySeq = ofDevice.toSorted(([a], [b]) => seqOf(a) - seqOf(b));
    const times = bySeq.map(([, ts]) => ts);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  }
  for (const tab of tabs) {
    await tab.evaluate(() => sync.whenSynced());
    for (const [key, expected] of final) {
      const here = await tab.evaluate(
        (key) =>
          sync.client.query(
            burrow.q.Select(
              ['data', 'values'],
              burrow.q.Get(burrow.q.Ref(burrow.q.Collection('notes'), key)),
            ),
          ),
        key,
      );
      expect(here).toEqual(expected);
    }
  }
});

/** The write's number. All writes of this test belong to one era of their device. */
const seqOf = (id: string): number => Number(id.split('.')[1]);
