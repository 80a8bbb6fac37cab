/** The loan of a thread: while the thread uses the only connection to an embedded database, nobody else has it. */
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { DEFAULT_SETTINGS } from '../settings/settings.ts';
import type { StoreLoan } from '../store/open-store.ts';
import { engineSettings } from './hub-engine.ts';
import { startEvaluator } from './start-evaluator.ts';

const parts = { settings: engineSettings(DEFAULT_SETTINGS), url: undefined, rootHash: undefined };
const access = { tenant: 'main', postgres: 'postgres://127.0.0.1/nowhere' };
const report = vi.fn<(reason: unknown) => void>();

const loanOf = (of: StoreLoan['access'], end: StoreLoan['end']): StoreLoan => ({ access: of, end });

test('a loan ends once, with its thread, and a failure to end it is reported', async () => {
  const failure = new Error('The connection cannot be given back.');
  const end = vi.fn<() => Promise<void>>(() => Promise.reject(failure));
  // The program exists only next to the bundle, so the thread fails to load it and ends.
  const { worker } = startEvaluator(parts, loanOf(access, end), report);
  expect(end).not.toHaveBeenCalled();
  const [reason] = (await once(
    worker.on('error', () => undefined),
    'error',
  )) as [Error];
  expect(reason.message).toContain('evaluator-thread');
  await expect.poll(() => report.mock.calls).toEqual([[failure]]);
  expect(end).toHaveBeenCalledTimes(1);
});

test('a loan ends if its thread cannot be started', () => {
  const end = vi.fn<() => Promise<void>>(() => Promise.resolve());
  const closed = { ...access, tenant: (() => 'no text') as unknown as string };
  expect(() => startEvaluator(parts, loanOf(closed, end), report)).toThrow('could not be cloned');
  expect(end).toHaveBeenCalledTimes(1);
});
