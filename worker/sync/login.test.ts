import { expect, test } from 'vitest';
import { CopyLogin, type CopyLoginOptions } from './login.ts';

/** A tab of a copy that has logged in with this token. */
async function tabWith(token: string) {
  const kept = new Map([['copy', token]]);
  let hasOfflineLogin = true;
  const login = new CopyLogin({
    name: 'copy',
    vault: {
      keep: async (name, secret) => void kept.set(name, secret),
      kept: async (name) => kept.get(name),
      forget: async (name) => void kept.delete(name),
    },
    offlineLogin: {
      forget: async () => {
        hasOfflineLogin = false;
      },
    },
  } as Partial<CopyLoginOptions> as CopyLoginOptions);
  await login.reload();
  return { login, kept, hasOfflineLogin: () => hasOfflineLogin };
}

test('a token that was revoked is forgotten, and the offline login with it', async () => {
  const { login, kept, hasOfflineLogin } = await tabWith('former');
  await login.forget('former');
  expect([login.token, kept.size, hasOfflineLogin()]).toEqual([undefined, 0, false]);
});

test('the login of another tab outlives the refusal of the former token', async () => {
  const { login, kept, hasOfflineLogin } = await tabWith('former');
  kept.set('copy', 'present');
  // The copy is locked for the former token, and then for none.
  for (const token of ['former', undefined]) await login.forget(token);
  await login.reload();
  expect([login.token, hasOfflineLogin()]).toEqual(['present', true]);
});
