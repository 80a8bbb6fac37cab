import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { beginWrite } from '../testing/raw-database.ts';
import type { NativeTransaction } from './native-transaction.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A database that answers no request by itself. */
class SilentDatabase {
  readonly requests: { onsuccess?: () => void; readonly result: number }[] = [];
  commits = 0;

  transaction(): EventTarget {
    const { requests } = this;
    const count = () => {
      const request = { result: 0 };
      requests.push(request);
      return request;
    };
    const tx = new EventTarget();
    const commit = () => void (this.commits += 1);
    const abort = () => {
      if (this.commits > 0) throw new DOMException('It is being committed.', 'InvalidStateError');
    };
    return Object.assign(tx, { objectStore: () => ({ count }), abort, commit });
  }

  get idb(): IDBDatabase {
    return this as unknown as IDBDatabase;
  }
}

function begin(database: SilentDatabase): {
  readonly tx: NativeTransaction;
  readonly noted: string[];
} {
  const tx = beginWrite(database.idb, 'documents');
  const noted: string[] = [];
  tx.count('documents').then(
    (count) => noted.push(String(count)),
    (reason: { readonly reason?: { readonly code: string } }) =>
      noted.push(reason.reason?.code ?? 'failed'),
  );
  return { tx, noted };
}

test('a transaction without a first response for ten seconds is blocked', async () => {
  const { noted } = begin(new SilentDatabase());
  await vi.advanceTimersByTimeAsync(9_000);
  expect(noted).toEqual([]);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(noted).toEqual(['storage_blocked']);
});

test('a transaction waits while the writer before it makes progress, and a minute after its last progress', async () => {
  const { tx, noted } = begin(new SilentDatabase());
  await vi.advanceTimersByTimeAsync(8_000);
  tx.followed(true);
  await vi.advanceTimersByTimeAsync(50_000);
  tx.followed(true);
  await vi.advanceTimersByTimeAsync(50_000);
  expect(noted).toEqual([]);
  await vi.advanceTimersByTimeAsync(12_000);
  expect(noted).toEqual(['storage_unavailable']);
});

test('the ten seconds begin anew when the writer before has ended', async () => {
  const { tx, noted } = begin(new SilentDatabase());
  tx.followed(true);
  await vi.advanceTimersByTimeAsync(40_000);
  tx.followed(false);
  await vi.advanceTimersByTimeAsync(9_000);
  expect(noted).toEqual([]);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(noted).toEqual(['storage_blocked']);
});

test('a write without a response after commitAtOnce() fails as possibly stored, not as blocked', async () => {
  vi.stubGlobal('navigator', { userAgent: 'Chrome/156.0.0.0' });
  const { tx, noted } = begin(new SilentDatabase());
  void tx.change((store) => store.count(), 'documents').catch(() => undefined);
  tx.commitAtOnce().catch((reason: { readonly reason: Error }) =>
    noted.push(reason.reason.message),
  );
  await vi.advanceTimersByTimeAsync(12_000);
  expect(noted).toEqual([
    'storage_unavailable',
    expect.stringContaining('may or may not be stored'),
  ]);
  vi.unstubAllGlobals();
});

test('commitAtOnce() does not call commit() in WebKit, where a worker that ends then would block the next page', () => {
  for (const [engine, commits] of [
    ['AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15', 0],
    ['AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0', 1],
    ['rv:153.0) Gecko/20100101 Firefox/153.0', 1],
  ] as const) {
    vi.stubGlobal('navigator', { userAgent: `Mozilla/5.0 (X11; Linux x86_64) ${engine}` });
    const database = new SilentDatabase();
    const { tx } = begin(database);
    tx.commitAtOnce().catch(() => undefined);
    expect(database.commits, engine).toBe(commits);
  }
  vi.unstubAllGlobals();
});
