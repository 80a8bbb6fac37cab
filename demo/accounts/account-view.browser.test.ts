import { afterEach, expect, test } from 'vitest';
import type { App } from '../shell/app.ts';
import { accountView } from './account-view.ts';
import type { Account } from './accounts.ts';
import { signInForm } from './sign-in-form.ts';

const accountOf = (email: string): Account => ({
  email,
  userId: '1',
  loginName: 'here',
  secret: 's',
});

/** Logins never end: what is shown meanwhile is looked at. */
const appWith = (all: readonly Account[]): App =>
  ({
    accounts: Object.assign(new EventTarget(), {
      all,
      current: all[0],
      clientOf: () => ({ subscribe: () => () => undefined }),
      logIn: () => new Promise(() => undefined),
    }),
  }) as unknown as App;

afterEach(() => document.body.replaceChildren());

test('assistive technology learns which login is in use', () => {
  const { node } = accountView(appWith(['ada@example.org', 'ben@example.org'].map(accountOf)));
  const items = [...node.querySelectorAll('[data-testid=accounts] li')];
  expect(items.map((item) => item.getAttribute('aria-current'))).toEqual(['true', null]);
});

test('assistive technology learns that a login is in progress', () => {
  const form = signInForm(appWith([]), () => undefined);
  document.body.append(form);
  for (const [name, value] of Object.entries({
    email: 'ada@example.org',
    password: 'eight or more',
  }))
    (form.querySelector(`[name=${name}]`) as HTMLInputElement).value = value;
  form.querySelector<HTMLButtonElement>('[value=log-in]')?.click();
  expect(form.ariaBusy).toBe('true');
});
