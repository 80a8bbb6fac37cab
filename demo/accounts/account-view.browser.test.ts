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

/** An app whose logins never finish, so that the tests can check what the page shows while a login is under way. */
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

test('`aria-current` marks the login in use', () => {
  const { node } = accountView(appWith(['ada@example.org', 'ben@example.org'].map(accountOf)));
  const items = [...node.querySelectorAll('[data-testid=accounts] li')];
  expect(items.map((item) => item.getAttribute('aria-current'))).toEqual(['true', null]);
});

test('the form has `aria-busy` while a login is in progress', () => {
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

function fillIn(form: HTMLElement): void {
  for (const [name, value] of Object.entries({
    email: 'ada@example.org',
    password: 'eight or more',
  }))
    (form.querySelector(`[name=${name}]`) as HTMLInputElement).value = value;
}

test('after "Log in" and "Add a login" the focus moves to the new heading', async () => {
  const app = appWith([]);
  const accounts = app.accounts as unknown as Record<string, unknown> & EventTarget;
  accounts['logIn'] = () => {
    accounts['all'] = [accountOf('ada@example.org')];
    accounts['current'] = accountOf('ada@example.org');
    accounts.dispatchEvent(new Event('change'));
    return Promise.resolve();
  };
  const { node } = accountView({ ...app, say: () => undefined });
  document.body.append(node);
  fillIn(node);
  const button = node.querySelector<HTMLButtonElement>('[value=log-in]');
  button?.focus();
  button?.click();
  await expect.poll(() => document.activeElement?.textContent).toBe('ada@example.org');
  node.querySelector<HTMLButtonElement>('[data-testid=add-login]')?.focus();
  node.querySelector<HTMLButtonElement>('[data-testid=add-login]')?.click();
  expect(document.activeElement?.textContent).toBe('Add a login');
});

test('after a failed login the focus stays on the button and the login can be repeated', async () => {
  const app = appWith([]);
  let attempts = 0;
  Object.assign(app.accounts, { logIn: () => Promise.reject(new Error(`No ${(attempts += 1)}`)) });
  const form = signInForm(app, () => undefined);
  document.body.append(form);
  fillIn(form);
  const button = form.querySelector<HTMLButtonElement>('[value=log-in]');
  button?.focus();
  for (const said of ['No 1.', 'No 2.']) {
    button?.click();
    button?.click();
    await expect.poll(() => form.querySelector('[role=alert]')?.textContent).toBe(said);
    await expect.poll(() => form.ariaBusy).toBe('false');
    expect(document.activeElement).toBe(button);
  }
});

test('a login name of spaces only is refused', () => {
  const form = signInForm(appWith([]), () => undefined);
  const name = form.querySelector<HTMLInputElement>('[name=login-name]');
  if (!name) throw new Error('There is no field for the name.');
  name.value = '   ';
  expect(name.checkValidity()).toBe(false);
  name.value = ' x ';
  expect(name.checkValidity()).toBe(true);
});
