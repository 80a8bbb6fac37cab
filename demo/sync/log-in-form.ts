import { QueryError } from '../../src/index.ts';
import { field, fill, h, submitting } from '../shell/dom.ts';
import { explain } from '../shell/explain.ts';
import type { HubNotes, Person } from './hub-place.ts';
import { logIn, type NoteCopy } from './note-copy.ts';

/** Asks who the user is. The passwords are filled in, because the people are fictional. */
export function logInForm(
  { people, key }: HubNotes,
  chosen: string,
  onDone: (copy: NoteCopy) => void,
): HTMLElement {
  const [first] = people;
  let person = people.find(({ id }) => id === chosen) ?? first;
  const password = h('input', {
    type: 'password',
    name: 'password',
    required: true,
    autocomplete: 'off',
    'data-testid': 'sync-password',
  });
  const choose = (next: Person): void => {
    person = next;
    password.value = next.password;
  };
  const choices = people.map((each) => personChoice(each, each === person, () => choose(each)));
  if (person) choose(person);
  const problem = h('p', { class: 'problem', role: 'alert', 'data-testid': 'sync-problem' });
  const submit = async (): Promise<void> => {
    if (!person) return;
    fill(problem);
    try {
      onDone(await logIn(person, { password: password.value, key }));
    } catch (error) {
      fill(problem, problemOf(error));
    }
  };
  return h(
    'form',
    { class: 'card sign-in', 'aria-label': 'Log in', on: { submit: submitting(submit) } },
    h(
      'fieldset',
      { class: 'people' },
      h('legend', { class: 'field-label' }, 'Who are you in this window?'),
      ...choices,
    ),
    field(
      'Password',
      password,
      'Filled in for you. The first login is checked at the hub. After that, this device can check the password too, so you can log in offline.',
    ),
    problem,
    h(
      'div',
      { class: 'buttons' },
      h('button', { type: 'submit', 'data-testid': 'sync-log-in' }, 'Log in'),
    ),
  );
}

/** The person was chosen from a list, so a failed authentication means that the password is wrong. */
const problemOf = (error: unknown): string =>
  error instanceof QueryError && error.code === 'authentication failed'
    ? 'This password is wrong.'
    : explain(error);

function personChoice({ id, name }: Person, isChosen: boolean, choose: () => void): HTMLElement {
  const radio = h('input', {
    type: 'radio',
    name: 'person',
    value: id,
    checked: isChosen,
    on: { change: choose },
  });
  return h('label', { class: 'person' }, radio, h('span', {}, name));
}
