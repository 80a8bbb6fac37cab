import { q } from '../../src/index.ts';
import type { App, View } from '../shell/app.ts';
import { button, fill, h, lead, refillPart, type Child } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import { formatNumber } from '../shell/format.ts';
import type { Account } from './accounts.ts';
import { signInForm } from './sign-in-form.ts';

export function accountView(app: App): View {
  const node = h('div', { class: 'view narrow' });
  let stopLogins: (() => void) | undefined;
  let isAdding = false;
  const add = (adding: boolean): void => {
    isAdding = adding;
    update();
  };
  const update = (): void => {
    stopLogins?.();
    stopLogins = undefined;
    const { current } = app.accounts;
    if (!current || isAdding) {
      refillPart(node, ...signIn(app, isAdding, add));
      return;
    }
    const logins = h('ul', { class: 'rows', 'data-testid': 'logins' });
    stopLogins = showLogins(app, current, logins);
    refillPart(node, ...account(app, current, logins, () => add(true)));
  };
  app.accounts.addEventListener('change', update);
  update();
  return {
    title: 'Account',
    node,
    stop: () => {
      stopLogins?.();
      app.accounts.removeEventListener('change', update);
    },
  };
}

function signIn(app: App, isAdding: boolean, add: (adding: boolean) => void): Child[] {
  return [
    h('h1', {}, isAdding ? 'Add a login' : 'Log in'),
    lead(
      isAdding
        ? 'For another account, or for this one under another name.'
        : 'With an account you can edit cities. Accounts are stored in this browser’s database and work offline.',
    ),
    signInForm(app, () => add(false)),
    isAdding && h('button', { class: 'plain', on: { click: () => add(false) } }, 'Back'),
    h(
      'details',
      {},
      h('summary', {}, 'What is stored, and where'),
      h(
        'p',
        {},
        'The password is stored as a bcrypt hash. Logging in creates a token. Its secret is in the session storage of this tab: it survives a reload and is deleted when the tab is closed. The login stays in the list of your logins until you log out.',
      ),
    ),
  ];
}

function account(app: App, current: Account, logins: HTMLElement, onAdd: () => void): Child[] {
  const logOut = (everywhere: boolean) => async () => {
    try {
      await app.accounts.logOut({ everywhere });
      app.say(everywhere ? 'Logged out everywhere.' : 'Logged out.');
    } catch (error) {
      app.say(explain(error), 'bad');
      await app.accounts.dropEnded();
    }
  };
  const action = (label: string, testId: string, run: () => unknown, kind = 'quiet') =>
    button(label, run, { class: kind, 'data-testid': testId });
  return [
    h('h1', { 'data-testid': 'account-email' }, current.email),
    lead('You are logged in and can edit cities.'),
    h(
      'div',
      { class: 'buttons' },
      action('Log out', 'log-out', logOut(false), ''),
      action('Log out everywhere', 'log-out-all', logOut(true)),
    ),
    h('h2', {}, 'Logins of this account'),
    logins,
    h('h2', {}, 'In this tab'),
    h('ul', { class: 'rows', 'data-testid': 'accounts' }, ...tabAccounts(app, current)),
    action('Add another login', 'add-login', onAdd),
  ];
}

function tabAccounts(app: App, current: Account): HTMLElement[] {
  return app.accounts.all.map((account) =>
    h(
      'li',
      { 'aria-current': account === current && 'true' },
      h('span', { class: 'grow' }, account.email, h('small', {}, account.loginName)),
      account === current
        ? h('span', { class: 'tag' }, 'in use')
        : button('Use', () => app.accounts.switchTo(account), {
            class: 'quiet small',
            'aria-label': `Use ${account.email}, ${account.loginName}`,
          }),
    ),
  );
}

/**
 * Lists the logins of the current user, as a live query: a login in another tab appears at once. The query uses the user's own token and
 * the index of tokens.
 */
function showLogins(app: App, current: Account, list: HTMLElement): () => void {
  const logins = q.Match<string>(q.Index('logins'), q.CurrentIdentity());
  return app.accounts.clientOf(current).subscribe(q.Paginate(logins, { size: 1000 }), {
    next: ({ data }) => {
      list.setAttribute('aria-label', `${formatNumber(data.length)} logins`);
      let isMarked = false;
      fill(
        list,
        ...data.map((name) => {
          const isThis = !isMarked && name === current.loginName;
          isMarked ||= isThis;
          return h(
            'li',
            {},
            h('span', { class: 'grow' }, name),
            isThis && h('span', { class: 'tag' }, 'this one'),
          );
        }),
      );
    },
    error: (error) => {
      fill(list, h('li', { class: 'problem' }, explain(error)));
      void followEnd(app);
    },
  });
}

/** Drops logins whose token is no longer valid: another tab may have ended this one. */
async function followEnd(app: App): Promise<void> {
  try {
    await app.accounts.dropEnded();
  } catch (error) {
    app.say(explain(error), 'bad');
  }
}
