/** Workloads of two tabs at the same time. */
import type { Contender } from './contender.ts';
import {
  ACCOUNTS,
  accountId,
  dice,
  draw,
  LIVE_CITY,
  makeAccounts,
  makeLiveDoc,
} from './documents.ts';
import { sleep } from './measure.ts';

export const openAccounts = (contender: Contender): Promise<void> =>
  contender.insertMany(makeAccounts());

export async function balances(contender: Contender): Promise<number[]> {
  const docs = await Promise.all(
    Array.from({ length: ACCOUNTS }, (_, account) => contender.get(accountId(account))),
  );
  return docs.map((doc) => doc?.age ?? Number.NaN);
}

/** The transfers of one tab. Returns what was acknowledged as moved, so that a third tab can compare it with the balances. */
export async function transfers(
  contender: Contender,
  { count, seed }: { readonly count: number; readonly seed: number },
) {
  const roll = dice(seed);
  const moved = Array.from({ length: ACCOUNTS }, () => 0);
  let done = 0;
  const failures: string[] = [];
  const started = performance.now();
  while (done + failures.length < count && performance.now() - started < 60_000) {
    const from = draw(roll, ACCOUNTS);
    const to = (from + 1 + draw(roll, ACCOUNTS - 1)) % ACCOUNTS;
    const amount = 1 + draw(roll, 5);
    try {
      await contender.transfer(accountId(from), accountId(to), amount);
      done += 1;
      moved[from] = (moved[from] ?? 0) - amount;
      moved[to] = (moved[to] ?? 0) + amount;
    } catch (error) {
      failures.push(String(error));
    }
  }
  return { done, failures, ms: performance.now() - started, moved };
}

const LIVE_CHANNEL = 'bench-live';

/** The tab that watches: sends the other tab the number of documents that its query has shown. */
export async function listen(contender: Contender): Promise<number> {
  const channel = new BroadcastChannel(LIVE_CHANNEL);
  let most = 0;
  await contender.watch(LIVE_CITY, 1000, (docs) => {
    if (docs.length <= most) return;
    most = docs.length;
    channel.postMessage(most);
  });
  await sleep(300);
  return most;
}

/** The tab that writes: times in ms from just before the insert to the message of the other tab. */
export async function poke(
  contender: Contender,
  { count, shown }: { readonly count: number; readonly shown: number },
): Promise<number[]> {
  const channel = new BroadcastChannel(LIVE_CHANNEL);
  const ms: number[] = [];
  for (let index = 0; index < count; index++) {
    const doc = makeLiveDoc(shown + index);
    const wanted = shown + index + 1;
    const answered = new Promise<void>((resolve, reject) => {
      const deadline = setTimeout(
        () => reject(new Error('The other tab was not told within 5 s.')),
        5000,
      );
      const hear = ({ data }: MessageEvent<number>): void => {
        if (data < wanted) return;
        clearTimeout(deadline);
        channel.removeEventListener('message', hear);
        resolve();
      };
      channel.addEventListener('message', hear);
    });
    const before = performance.now();
    await Promise.all([contender.insert(doc), answered]);
    ms.push(performance.now() - before);
    await sleep(20);
  }
  channel.close();
  return ms;
}
