import { button, h, submitting, WORDED } from '../shell/dom.ts';

export interface TitleFormOptions {
  readonly title: string;
  /** Accessible name of the field. */
  readonly label: string;
  readonly testId: string;
  /** Text of the submit button. */
  readonly send: string;
  readonly onTitle: (title: string) => unknown;
  readonly onCancel: () => void;
}

/** A form to change the title of a note. It takes the focus when it is shown. */
export function titleForm(options: TitleFormOptions): HTMLElement {
  const { title, label, testId, send, onTitle, onCancel } = options;
  const input = h('input', {
    value: title,
    ...WORDED,
    maxlength: 100,
    'aria-label': label,
    'data-testid': testId,
  });
  setTimeout(() => input.focus());
  return h(
    'form',
    { class: 'title-form grow', on: { submit: submitting(() => onTitle(input.value.trim())) } },
    input,
    h('button', { type: 'submit', class: 'small' }, send),
    button('Cancel', onCancel, { class: 'quiet small' }),
  );
}

export interface NewNoteOptions {
  /** Accessible name of the field. */
  readonly label: string;
  readonly placeholder: string;
  /** Test ids of the field and of the button. */
  readonly testIds: readonly [field: string, button: string];
  /** Further controls of the form. */
  readonly more?: HTMLElement;
  /** Resolves to false if the title must stay in the field. */
  readonly onTitle: (title: string) => Promise<boolean>;
}

export function newNoteForm(options: NewNoteOptions): HTMLElement {
  const { label, placeholder, testIds, more, onTitle } = options;
  const title = h('input', {
    name: 'title',
    ...WORDED,
    maxlength: 100,
    placeholder,
    'aria-label': label,
    autocomplete: 'off',
    'data-testid': testIds[0],
  });
  const submit = async (): Promise<void> => {
    if (await onTitle(title.value.trim())) title.value = '';
  };
  return h(
    'form',
    { class: 'new-note', on: { submit: submitting(submit) } },
    title,
    more,
    h('button', { type: 'submit', 'data-testid': testIds[1] }, 'Add'),
  );
}
