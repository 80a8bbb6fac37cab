import type { Signal } from '../../src/sync/device/syncer/signal.ts';

/** Resolves after `ms`, or as soon as the signal is raised. */
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

/** Resolves after `ms`, or as soon as the signal is aborted. */
export const waitUnlessAborted = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, signal.aborted ? 0 : ms);
    signal.addEventListener('abort', done);
  });
