/** The page's side of the crash test: writes until the browser is killed, and says afterwards what is there. */
import type { Contender } from './contender.ts';
import { idOf, makeDocs } from './documents.ts';
import { sleep } from './measure.ts';

/** Ids of one transaction lie together, so that a missing part of it shows. */
const STRIDE = 1000;
const IDS_MAX = 100_000;

declare global {
  interface Window {
    /** Offered by the test: keeps what was acknowledged, outside the browser. */
    acknowledge(transaction: number): Promise<void>;
  }
}

interface Writing {
  /** Documents of one transaction. */
  readonly size: number;
  /** Number of the first transaction. */
  readonly from: number;
  readonly pauseMs: number;
}

export async function writeUntilKilled(
  contender: Contender,
  { size, from, pauseMs }: Writing,
): Promise<void> {
  for (let transaction = from; ; transaction++) {
    await contender.insertMany(
      makeDocs({ count: size, from: transaction * STRIDE, seed: 5, cities: 20 }),
    );
    await window.acknowledge(transaction);
    if (pauseMs > 0) await sleep(pauseMs);
  }
}

/** How many documents of each transaction are there: `[transaction, documents]`. */
export async function contents(contender: Contender) {
  const ids = await contender.ids(IDS_MAX);
  const base = BigInt(idOf(0));
  const counts = new Map<number, number>();
  for (const id of ids) {
    const transaction = Math.floor(Number((BigInt(id) - base) / 7n) / STRIDE);
    counts.set(transaction, (counts.get(transaction) ?? 0) + 1);
  }
  return { counts: [...counts], inspection: await contender.inspect?.() };
}
