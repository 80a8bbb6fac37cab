import type { Signal } from '../../src/sync/device/syncer/signal.ts';

/** Resolves after so many ms, or when the signal is raised. */
export const wait = (ms: number, signal: Signal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => {
      forget();
      resolve();
    }, ms);
    const forget = signal.onRaised(() => {
      clearTimeout(timer);
      resolve();
    });
  });
