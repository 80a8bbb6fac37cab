/** Timing functions for the page. */

export interface Times {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly mean: number;
  readonly max: number;
  /** Sum of all times, in ms. */
  readonly total: number;
  /** Whether the time limit was reached before all calls were made. */
  readonly isCut: boolean;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

export function timesOf(ms: readonly number[], isCut = false): Times {
  const total = ms.reduce((sum, each) => sum + each, 0);
  return {
    count: ms.length,
    p50: median(ms),
    p95: quantile(ms, 0.95),
    mean: total / ms.length,
    max: Math.max(...ms),
    total,
    isCut,
  };
}

/** Runs `work` up to `count` times, one after the other, for `limitMs` at most. */
export async function timeEach(
  count: number,
  work: (index: number) => Promise<unknown>,
  limitMs = 10_000,
): Promise<Times> {
  const ms: number[] = [];
  const started = performance.now();
  for (let index = 0; index < count; index++) {
    const before = performance.now();
    await work(index);
    ms.push(performance.now() - before);
    if (performance.now() - started > limitMs) return timesOf(ms, index < count - 1);
  }
  return timesOf(ms);
}

export interface Watched<T> {
  readonly value: T;
  readonly ms: number;
  /** Longest time in which a timer with an interval of 4 ms could not run, in ms. */
  readonly gap: number;
  /** Longest task that the browser reported, in ms. */
  readonly longTask: number;
}

/** Measures how long `work` takes, and how long it blocks the main thread. */
export async function watchMainThread<T>(work: () => Promise<T>): Promise<Watched<T>> {
  let last = performance.now();
  let gap = 0;
  let longTask = 0;
  const tick = (): void => {
    const now = performance.now();
    gap = Math.max(gap, now - last);
    last = now;
  };
  const ticker = setInterval(tick, 4);
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longTask = Math.max(longTask, duration);
  });
  observer.observe({ entryTypes: ['longtask'] });
  await sleep(30);
  gap = 0;
  last = performance.now();
  const started = performance.now();
  const value = await work();
  const ms = performance.now() - started;
  tick();
  // The browser reports long tasks with a delay.
  await sleep(60);
  clearInterval(ticker);
  observer.disconnect();
  return { value, ms, gap, longTask };
}

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));
