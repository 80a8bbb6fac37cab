import { button, h, submitting, WORDED } from '../shell/dom.ts';

export interface TitleFormOptions {
  readonly title: string;
  /** What the field is called. */
  readonly label: string;
  readonly testId: string;
  /** What the button says that sends it. */
  readonly send: string;
  readonly onTitle: (title: string) => unknown;
  readonly onCancel: () => void;
}

/** Another title for a note. It takes the focus as soon as it is shown. */
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
  /** What the field is called. */
  readonly label: string;
  readonly placeholder: string;
  /** Of the field, and of the button. */
  readonly testIds: readonly [field: string, button: string];
  /** What else there is to choose. */
  readonly more?: HTMLElement;
  /** Resolves to false when the title is to be kept. */
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
