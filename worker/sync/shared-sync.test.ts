import { afterEach, expect, test, vi } from 'vitest';
import type { ReplicaState } from '../../src/sync/device/state/replica-state.ts';
import { CopyLogin, type CopyLoginOptions } from './login.ts';
import { SharedSync, type SessionOfTab, type SharedSyncOptions } from './shared-sync.ts';

afterEach(() => vi.unstubAllGlobals());

/**
 * A tab that leads the sync of a copy, with a token that the hub has revoked. @param logIn called while the lock is being stored, to log
 * in
 */
async function openTab(logIn: (login: CopyLogin, kept: Map<string, string>) => void) {
  vi.stubGlobal('navigator', {});
  const kept = new Map([['copy', 'former']]);
  let isLocked = false;
  let offlineLogins = 1;
  const vault: CopyLoginOptions['vault'] = {
    keep: async (name, secret) => void kept.set(name, secret),
    kept: async (name) => kept.get(name),
    forget: async (name) => void kept.delete(name),
  };
  const state = (): Partial<ReplicaState> => ({ fence: 1, device: 'd', sets: [], isLocked });
  const shown: (string | null)[] = [];
  const options = {
    name: 'copy',
    vault,
    offlineLogin: { forget: async () => void (offlineLogins = 0) },
    replica: {
      state: async () => state(),
      takeFence: async () => 1,
      prune: async () => undefined,
      park: async () => undefined,
      outgoing: async () => [],
      async lock() {
        logIn(login, kept);
        isLocked = true;
      },
    },
    network: {
      fetch: async (_: string, { headers }: RequestInit) => {
        const token = new Headers(headers).get('authorization');
        shown.push(token);
        return token === 'Bearer former'
          ? Response.json({ code: 'locked', description: 'Revoked.' }, { status: 403 })
          : Promise.reject(new TypeError('Failed to fetch'));
      },
    },
    tabs: { broadcast: () => undefined },
    clock: () => 0,
    emit: () => undefined,
    report: (reason: unknown) => {
      throw reason;
    },
  } as unknown as SharedSyncOptions & CopyLoginOptions;
  const login = new CopyLogin(options);
  await login.reload();
  const shared = new SharedSync(options, {
    url: 'http://hub',
    login,
    files: { uploads: { takeOver: async () => undefined } },
    secondCopy: { reconcile: async () => undefined },
    waiters: { failSchema: () => undefined },
  } as unknown as SessionOfTab);
  shared.join();
  await vi.waitFor(() => expect(isLocked).toBe(true));
  return { shared, login, kept, shown, offlineLogins: () => offlineLogins };
}

test('a copy whose token was revoked forgets the token and ends offline logins', async () => {
  const { shared, login, kept, offlineLogins } = await openTab(() => undefined);
  await vi.waitFor(() => expect(offlineLogins()).toBe(0));
  expect([shared.contact.state, login.token, kept.size]).toEqual(['locked', undefined, 0]);
  await shared.leave();
});

test('a login while the copy is being locked for a former token stays valid', async () => {
  const { shared, login, kept, shown, offlineLogins } = await openTab((of, vault) => {
    vault.set('copy', 'present');
    of.token = 'present';
  });
  await vi.waitFor(() => expect(shared.contact.state).toBe('locked'));
  shared.kick();
  await vi.waitFor(() => expect(shown).toContain('Bearer present'));
  expect([login.token, kept.get('copy'), offlineLogins()]).toEqual(['present', 'present', 1]);
  await shared.leave();
});

test('sync that resumes after a stop is "connecting", not "offline"', async () => {
  const { shared } = await openTab(() => undefined);
  await shared.leave();
  expect(shared.contact.state).toBe('offline');
  shared.join();
  expect(shared.contact.state).toBe('connecting');
  await shared.leave();
});
