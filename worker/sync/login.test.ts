import { expect, onTestFinished, test, vi } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import { WELCOMED } from '../../src/sync/testing/device-world.ts';
import type { KeptWrite } from '../../src/sync/device/state/outbox-record.ts';
import type { ReplicaState } from '../../src/sync/device/state/replica-state.ts';
import { SYNC_PROTOCOL, type RequestOf } from '../../src/sync/protocol/messages.ts';
import { FakeLocks } from '../testing/fake-locks.ts';
import { openStorage } from '../testing/private-files.ts';
import { OutboxFile } from './outbox-file.ts';
import { CopyLogin, type CopyLoginOptions } from './login.ts';
import type { TokenVault } from './token-vault.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const HUB = 'https://hub.test';

/** A hub that accepts every device. */
const greet = async (_url: unknown, { body }: RequestInit = {}): Promise<Response> => {
  const { device, lastSeq } = JSON.parse(body as string) as RequestOf<'hello'>;
  const epoch = 'e'.repeat(32);
  return Response.json({
    ...WELCOMED,
    epoch,
    protocol: SYNC_PROTOCOL,
    device,
    lastSeq,
    hubTime: 1,
  });
};

/**
 * A tab of a copy that has logged in with this token. @param state the result of reading the state @param kept the vault, which may be
 * shared with another tab
 */
async function tabWith(
  token: string,
  {
    state = async () => undefined,
    kept = new Map([['copy', token]]),
    adopt = async () => ({}) as ReplicaState,
    fetch = greet,
    locks,
  }: {
    readonly state?: () => Promise<undefined>;
    readonly kept?: Map<string, string>;
    readonly adopt?: CopyLoginOptions['replica']['adopt'];
    readonly fetch?: typeof greet;
    readonly locks?: LockManager;
  } = {},
) {
  let hasOfflineLogin = true;
  const vault: Writable<TokenVault> = {
    keep: async (name, secret) => void kept.set(name, secret),
    kept: async (name) => kept.get(name),
    forget: async (name) => void kept.delete(name),
  };
  const login = new CopyLogin({
    name: 'copy',
    locks,
    network: { fetch },
    replica: { state, adopt },
    vault,
    offlineLogin: {
      forget: async () => {
        hasOfflineLogin = false;
      },
    },
  } as Partial<CopyLoginOptions> as CopyLoginOptions);
  await login.reload();
  return { login, kept, vault, hasOfflineLogin: () => hasOfflineLogin };
}

test('forget() removes a revoked token and the offline login', async () => {
  const { login, kept, hasOfflineLogin } = await tabWith('former');
  await login.forget('former');
  expect([login.token, kept.size, hasOfflineLogin()]).toEqual([undefined, 0, false]);
});

test('a login in another tab survives forget() of the former token', async () => {
  const { login, kept, hasOfflineLogin } = await tabWith('former');
  kept.set('copy', 'present');
  // The copy is locked because of the former token, and then without a token.
  for (const token of ['former', undefined]) await login.forget(token);
  await login.reload();
  expect([login.token, hasOfflineLogin()]).toEqual(['present', true]);
});

test('a login in another tab while forget() removes the former token is kept', async () => {
  const waiting: Promise<unknown>[] = [];
  const request = (_name: string, _how: object, body: () => Promise<void>) => {
    const turn = Promise.allSettled(waiting).then(body);
    waiting.push(turn);
    return turn;
  };
  const locks = { request } as Partial<LockManager> as LockManager;
  const { login, kept, vault } = await tabWith('former', { locks });
  const other = (await tabWith('former', { kept, locks })).login;
  let taken: Promise<unknown> = Promise.resolve();
  vault.kept = async () => {
    taken = other.logIn(HUB, { secret: 'present', login: undefined }, undefined);
    // By now, the other tab has stored its token, or waits for the lock.
    await vi.waitFor(() =>
      expect(waiting.length === 2 || kept.get('copy') === 'present').toBe(true),
    );
    return 'former';
  };
  await login.forget('former');
  await taken;
  expect(kept.get('copy')).toBe('present');
});

test('a login whose lock another script never releases fails, and names the lock', async () => {
  const locks = new FakeLocks();
  void locks.request('burrow:vault:copy', {}, () => new Promise(() => undefined));
  const late = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal);
  onTestFinished(() => void vi.restoreAllMocks());
  const { login, kept } = await tabWith('former', { locks: locks as unknown as LockManager });
  const taken = login.logIn(HUB, { secret: 'present', login: undefined }, undefined);
  late.abort();
  await expect(taken).rejects.toMatchObject({
    code: 'storage_blocked',
    message: expect.stringContaining('the lock `burrow:vault:copy`') as string,
  });
  expect(kept.get('copy')).toBe('former');
});

test.each([
  ['storage_unavailable', undefined],
  ['locked', 'present'],
] as const)(
  'logIn() to a database that turns out to be %s leaves the token %s',
  async (code, left) => {
    const { login, kept } = await tabWith('former', {
      state: () => Promise.reject(new Refusal(code, 'Another tab did it.')),
    });
    const taken = login.logIn(HUB, { secret: 'present', login: undefined }, undefined);
    await expect(taken).rejects.toMatchObject({ code });
    expect(kept.get('copy')).toBe(left);
  },
);

test('when two users log in at once on a new device, in two tabs, only the token of the first is kept', async () => {
  const kept = new Map<string, string>();
  let owner: string | undefined;
  const adopt: CopyLoginOptions['replica']['adopt'] = async (_hub, { actor }) => {
    owner ??= actor.subject;
    if (owner !== actor.subject) throw new Refusal('forbidden', 'It is the copy of another user.');
    return {} as ReplicaState;
  };
  const fetch: typeof greet = async (url, init) => {
    const subject = new Headers(init?.headers).get('authorization');
    const welcome = (await (await greet(url, init)).json()) as typeof WELCOMED;
    return Response.json({ ...welcome, actor: { ...welcome.actor, subject } });
  };
  const [one, other] = [
    await tabWith('', { kept, adopt, fetch }),
    await tabWith('', { kept, adopt, fetch }),
  ];
  // Both tabs have read that there is no copy yet.
  await one.login.logIn(HUB, { secret: 'of Ada', login: undefined }, undefined);
  const second = other.login.logIn(HUB, { secret: 'of Bob', login: undefined }, undefined);
  await expect(second).rejects.toMatchObject({ code: 'forbidden' });
  expect([kept.get('copy'), other.login.token]).toEqual(['of Ada', undefined]);
});

test('the device id of a lost copy is taken over only by its user, even if the hub has forgotten the device', async () => {
  await openStorage();
  onTestFinished(() => void vi.unstubAllGlobals());
  const file = await OutboxFile.open('copy', 'tab');
  const { actor } = WELCOMED;
  const lost = 'ad'.repeat(16);
  const item = { seq: 1, query: '{}', now: 1 } as KeptWrite['item'];
  file?.keep({ device: lost, item, owner: { ...actor, subject: 'of Ada' } });
  file?.close();
  const devices: string[] = [];
  const adopt: CopyLoginOptions['replica']['adopt'] = async (_hub, _welcome, device) => {
    devices.push(device);
    return {} as ReplicaState;
  };
  for (const user of ['of Bob', 'of Ada']) {
    const fetch: typeof greet = async (url, init) => {
      const welcome = (await (await greet(url, init)).json()) as typeof WELCOMED;
      return Response.json({ ...welcome, actor: { ...actor, subject: user } });
    };
    const { login } = await tabWith('', { adopt, fetch });
    await login.logIn(HUB, { secret: user, login: undefined }, undefined);
  }
  expect(devices).toEqual([expect.not.stringMatching(lost), lost]);
});

test('a login at an address without a hub fails with a message that names the address, by password and by token', async () => {
  const nowhere = async () =>
    Response.json({ errors: [{ code: 'not found', description: 'Not found' }] }, { status: 404 });
  const login = new CopyLogin({
    name: 'copy',
    network: { fetch: nowhere },
    vault: { kept: async () => undefined },
  } as unknown as CopyLoginOptions);
  const ada = { user: '"ada"', password: 'p', key: 'k' };
  for (const how of [{ secret: 'token' }, { login: ada }])
    await expect(login.logIn(`${HUB}/api`, how as never, undefined)).rejects.toMatchObject({
      code: 'connection_needed',
      message: expect.stringContaining(
        'There is no hub at https://hub.test/api: check the option `url`.',
      ),
    });
});
