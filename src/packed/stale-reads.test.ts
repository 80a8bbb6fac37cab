/** Engines of two tabs on one packed store, and what a read shows that does not read the log. */
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '../engine/testing/sha256.ts';
import { documentKey } from '../codec/key.ts';
import { createEngine, type Transactions } from '../engine/engine.ts';
import { assert } from '../errors.ts';
import type { TransactionBody } from '../engine/transactions.ts';
import { CountingMedium } from './testing/counting-medium.ts';
import { createMemoryMedium, MediumData } from './testing/memory-medium.ts';
import { openPacked, SMALL } from './testing/packed-kit.ts';
import type { PackedStore } from './packed-store.ts';
import type { Appended } from './tree/tree.ts';

const passwords = { hash: async (text: string) => text, verify: async () => true };
const COUNTER = { space: 'documents', key: documentKey(0, 1024, 1n) } as const;

/** Each commit adds one, at the next timestamp. So the value at a timestamp equals the timestamp. */
const adding: TransactionBody<number> = ({ writer, head }) => {
  const value = Number(writer.row(COUNTER)?.value ?? 0) + 1;
  writer.put('documents', { key: COUNTER.key, entries: [], value: String(value) });
  return { value, ts: head + 1 };
};
const reading: TransactionBody<number> = ({ writer }) => ({
  value: Number(writer.row(COUNTER)?.value ?? 0),
});

/** A tab. Tests deliver the broadcasts of the other tab to it by hand. */
class Tab {
  readonly received: Appended[] = [];
  readonly medium: CountingMedium;
  term: number | undefined = undefined;
  private readonly opening: Promise<PackedStore>;
  private opened: { readonly store: PackedStore; readonly transactions: Transactions } | undefined;

  constructor(data: MediumData, broadcast: (appended: Appended) => void) {
    this.medium = new CountingMedium(createMemoryMedium(data));
    const { medium } = this;
    this.opening = openPacked(data, SMALL, { medium, broadcast, leaseTerm: () => this.term });
  }

  async open(): Promise<void> {
    const store = await this.opening;
    const { transactions } = createEngine({
      store,
      clock: () => 0,
      passwords,
      random: (bytes) => new Uint8Array(randomBytes(bytes)),
      sha256,
      rootSecret: 'secret',
      regionGroup: 'local',
      pause: () => Promise.resolve(),
      durability: 'relaxed',
      hashCost: 4,
      lease: { term: () => this.term },
    });
    this.opened = { store, transactions };
  }

  get store(): PackedStore {
    return required(this.opened).store;
  }

  get transactions(): Transactions {
    return required(this.opened).transactions;
  }

  receive(index = 0): void {
    const [appended] = this.received.splice(index, 1);
    if (appended) this.store.applyAppended(appended);
  }
}

function required<T>(value: T | undefined): T {
  assert(value !== undefined, () => 'the test has it');
  return value;
}

async function openTabs(): Promise<{ readonly writer: Tab; readonly reader: Tab }> {
  const data = new MediumData();
  const writer: Tab = new Tab(data, (appended) => reader.received.push(appended));
  const reader: Tab = new Tab(data, (appended) => writer.received.push(appended));
  await writer.open();
  await reader.open();
  await writer.transactions.write(adding);
  expect((await reader.transactions.read(reading)).value).toBe(1);
  reader.received.length = 0;
  reader.medium.take();
  return { writer, reader };
}

test('read() after a broadcast commit shows it without a request to the medium', async () => {
  const { writer, reader } = await openTabs();
  await writer.transactions.write(adding);
  reader.receive();
  const { value, head } = await reader.transactions.read(reading, { minSnapshot: 2 });
  expect([value, head]).toEqual([2, 2]);
  expect(reader.medium.take().reads).toBe(0);
  // A read that does not allow stale data sees the newest commit.
  await writer.transactions.write(adding);
  expect((await reader.transactions.read(reading)).value).toBe(3);
});

test('read() finds a commit in the log if its broadcast is missing or late', async () => {
  const { writer, reader } = await openTabs();
  await writer.transactions.write(adding);
  await writer.transactions.write(adding);
  reader.receive(1);
  expect((await reader.transactions.read(reading, { minSnapshot: 3 })).value).toBe(3);
  expect(reader.medium.take().reads).toBe(1);
  reader.receive();
  expect((await reader.transactions.read(reading, { minSnapshot: 3 })).value).toBe(3);
  expect(reader.medium.take().reads).toBe(0);
});

test('a tab that gets the lease does not trust the result of an earlier stale read', async () => {
  const { writer, reader } = await openTabs();
  await writer.transactions.write(adding);
  reader.receive();
  await writer.transactions.write(adding);
  expect((await reader.transactions.read(reading, { minSnapshot: 2 })).value).toBe(2);
  // The other tab was killed before it broadcast its last commit, and this tab holds the lease.
  reader.term = 1;
  expect((await reader.transactions.read(reading, { minSnapshot: 2 })).value).toBe(2);
  expect((await reader.transactions.read(reading)).value).toBe(3);
  expect((await reader.transactions.write(adding)).value).toBe(4);
});

test('a damaged broadcast is ignored', async () => {
  const { writer, reader } = await openTabs();
  await writer.transactions.write(adding);
  const { first, parts } = required(reader.received[0]);
  reader.store.applyAppended({ first, parts: parts.map((part) => part.slice(0, -3)) });
  reader.store.applyAppended({ first, parts: [] });
  expect((await reader.transactions.read(reading, { minSnapshot: 1 })).value).toBe(1);
  expect((await reader.transactions.read(reading)).value).toBe(2);
});

test('stale reads show only real commits, never go back, and do not disturb writes', async () => {
  const step = fc.oneof(
    fc.record({ tab: fc.nat(1), act: fc.constant('write' as const) }),
    fc.record({ tab: fc.nat(1), act: fc.constantFrom('stale' as const, 'read' as const) }),
    fc.record({
      tab: fc.nat(1),
      act: fc.constantFrom('receive' as const, 'lose' as const, 'repeat' as const),
      at: fc.nat(3),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { writer, reader } = await openTabs();
      const tabs = [writer, reader];
      const shown = [1, 1];
      let written = 1;
      const running: Promise<void>[] = [];
      const wrong: unknown[] = [];
      for (const each of steps) {
        const tab = required(tabs[each.tab]);
        const minSnapshot = required(shown[each.tab]);
        if (each.act === 'write')
          running.push(
            tab.transactions.write(adding).then(({ value }) => {
              written += 1;
              shown[each.tab] = Math.max(shown[each.tab] ?? 0, value);
            }),
          );
        else if (each.act === 'stale' || each.act === 'read') {
          const least = each.act === 'read' ? written : minSnapshot;
          const freshness = each.act === 'stale' ? { minSnapshot } : {};
          const { value, head } = await tab.transactions.read(reading, freshness);
          if (value !== head || value < least) wrong.push({ ...each, value, head, least });
          shown[each.tab] = Math.max(minSnapshot, value);
        } else if ('at' in each) {
          const appended = tab.received[each.at];
          if (each.act === 'repeat' && appended) tab.store.applyAppended(appended);
          else if (each.act === 'receive') tab.receive(each.at);
          else tab.received.splice(each.at, 1);
        }
      }
      expect(wrong).toEqual([]);
      await Promise.all(running);
      for (const tab of tabs) {
        expect((await tab.transactions.read(reading)).value).toBe(written);
        await tab.store.whenIdle();
      }
    }),
    { numRuns: 200 },
  );
});
