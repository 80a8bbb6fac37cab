/** The documents of the benchmark. They are generated from a seed, and so are the same in every run. */
import type { Doc } from './contender.ts';

/** Pseudo-random numbers from 0 up to, but not including, 1, by mulberry32. */
export function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const draw = (roll: () => number, below: number): number => Math.floor(roll() * below);

export const idOf = (index: number): string =>
  `4${String(10_000_000 + index * 7).padStart(17, '0')}`;

/** Number of cities, such that each has about 500 documents. */
export const cityCount = (documents: number): number => Math.max(10, Math.round(documents / 500));

export const cityOf = (index: number): string => `City${String(index).padStart(4, '0')}`;

const WORDS =
  'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua'.split(
    ' ',
  );
const BODY_CHARS = 200;

interface DocumentRange {
  readonly count: number;
  /** Index of the first document. */
  readonly from?: number;
  readonly seed?: number;
  readonly cities?: number;
}

export function makeDocs({
  count,
  from = 0,
  seed = 1,
  cities = cityCount(count),
}: DocumentRange): Doc[] {
  const roll = dice(seed + from);
  const word = (): string => WORDS[draw(roll, WORDS.length)] ?? '';
  return Array.from({ length: count }, (_, at) => {
    const index = from + at;
    let body = '';
    while (body.length < BODY_CHARS) body += `${word()} `;
    return {
      id: idOf(index),
      email: `user${index}@example.com`,
      name: `User ${index} ${word()}`,
      age: 18 + draw(roll, 60),
      city: cityOf(draw(roll, cities)),
      tags: [word(), word(), word()],
      body: body.slice(0, BODY_CHARS),
    };
  });
}

/** Far from the indexes of all other documents. */
const ACCOUNTS_FROM = 5_000_000;
export const ACCOUNTS = 10;
export const ACCOUNT_BALANCE = 1000;
export const accountId = (account: number): string => idOf(ACCOUNTS_FROM + account);

export const makeAccounts = (): Doc[] =>
  makeDocs({ count: ACCOUNTS, from: ACCOUNTS_FROM }).map((doc) => ({
    ...doc,
    city: 'Accounts',
    age: ACCOUNT_BALANCE,
  }));

const LIVE_FROM = 6_000_000;
export const LIVE_CITY = 'Live';

export function makeLiveDoc(index: number): Doc {
  const [doc] = makeDocs({ count: 1, from: LIVE_FROM + index });
  if (!doc) throw new Error('No document was made.');
  return { ...doc, city: LIVE_CITY };
}
