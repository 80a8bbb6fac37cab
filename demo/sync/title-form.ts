import { h, submitting, WORDED } from '../shell/dom.ts';

export interface TitleFormOptions {
  readonly title: string;
  /** What the field is called. */
  readonly label: string;
  readonly testId: string;
  /** What the button says that sends it. */
  readonly button: string;
  readonly onTitle: (title: string) => unknown;
  readonly onCancel: () => void;
}

/** Another title for a note. It takes the focus as soon as it is shown. */
export function titleForm(options: TitleFormOptions): HTMLElement {
  const { title, label, testId, button, onTitle, onCancel } = options;
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
    {
      class: 'title-form grow',
      on: {
        submit: submitting(() => onTitle(input.value.trim())),
      },
    },
    input,
    h('button', { type: 'submit', class: 'small' }, button),
    h('button', { type: 'button', class: 'quiet small', on: { click: onCancel } }, 'Cancel'),
  );
}
