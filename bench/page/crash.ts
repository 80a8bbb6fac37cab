/** The page's part of the crash test: writes until the browser is killed, and reports afterwards what is there. */
import type { Contender } from './contender.ts';
import { idOf, makeDocs } from './documents.ts';
import { sleep } from './measure.ts';

/** Each transaction has its own range of ids, so that missing documents are noticed. */
const STRIDE = 1000;
const IDS_MAX = 100_000;

declare global {
  interface Window {
    /** Provided by the test: records an acknowledged transaction outside the browser. */
    acknowledge(transaction: number): Promise<void>;
  }
}

interface Writing {
  /** Documents per transaction. */
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

/** Number of documents of each transaction: `[transaction, documents]`. */
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
