import type { App } from '../shell/app.ts';
import { field, fill, h, submitting, WORDED } from '../shell/dom.ts';
import { explain, isTaken } from '../shell/explain.ts';
import { signUp } from './accounts.ts';

/** One form to log in and to sign up: both need the same fields. */
export function signInForm(app: App, onDone: () => void): HTMLElement {
  const { email, password, loginName } = credentialInputs();
  const problem = h('p', { class: 'problem', role: 'alert', 'data-testid': 'sign-in-problem' });
  const submit = async (isNew: boolean): Promise<void> => {
    fill(problem);
    try {
      if (isNew) await signUp(app.server, email.value, password.value);
      await app.accounts.logIn(email.value, password.value, loginName.value.trim());
      app.say(isNew ? 'Account created. You are logged in.' : 'You are logged in.');
      onDone();
    } catch (error) {
      fill(problem, problemOf(error));
    }
  };
  return h(
    'form',
    {
      class: 'card sign-in',
      'data-testid': 'sign-in',
      on: {
        submit: submitting((event) =>
          submit((event.submitter as HTMLButtonElement | null)?.value === 'sign-up'),
        ),
      },
    },
    field('E-mail address', email, 'Any address will do: it never leaves this browser.'),
    field('Password', password, 'At least 8 characters.'),
    field('Name of this login', loginName, 'Helps you to recognize this login in the list.'),
    problem,
    submitButtons(),
  );
}

const credentialInputs = () => ({
  email: h('input', {
    type: 'email',
    name: 'email',
    required: true,
    autocomplete: 'username',
    'data-testid': 'email',
  }),
  password: h('input', {
    type: 'password',
    name: 'password',
    required: true,
    minlength: 8,
    maxlength: 72,
    autocomplete: 'current-password',
    'data-testid': 'password',
  }),
  loginName: h('input', {
    name: 'login-name',
    ...WORDED,
    maxlength: 60,
    value: deviceName(),
    autocomplete: 'off',
    'data-testid': 'login-name',
  }),
});

const submitButtons = (): HTMLElement =>
  h(
    'div',
    { class: 'buttons' },
    h('button', { type: 'submit', value: 'log-in', 'data-testid': 'log-in' }, 'Log in'),
    h(
      'button',
      { type: 'submit', value: 'sign-up', class: 'quiet', 'data-testid': 'sign-up' },
      'Create account',
    ),
  );

const problemOf = (error: unknown): string =>
  isTaken(error)
    ? 'An account with this e-mail address already exists. Log in instead.'
    : explain(error);

/** A name by which the user recognizes this device. */
function deviceName(): string {
  const agent = navigator.userAgent;
  const pick = (names: readonly (readonly [pattern: RegExp, name: string])[], other: string) =>
    names.find(([pattern]) => pattern.test(agent))?.[1] ?? other;
  const browser = pick(
    [
      [/Firefox\//, 'Firefox'],
      [/Edg\//, 'Edge'],
      [/Chrom(?:e|ium)\//, 'Chrome'],
      [/Safari\//, 'Safari'],
    ],
    'Browser',
  );
  const system = pick(
    [
      [/Android/, 'Android'],
      [/iPhone|iPad/, 'iOS'],
      [/Windows/, 'Windows'],
      [/Mac OS/, 'Mac'],
      [/Linux/, 'Linux'],
    ],
    'this device',
  );
  return `${browser} on ${system}`;
}
