/** DOM helpers of the demo: those of the inspector, and helpers for forms. */
import { fill, h, type Child } from '../../inspector/dom.ts';

export { button, fill, h, hint, type Child } from '../../inspector/dom.ts';

export const lead = (...children: readonly Child[]): HTMLElement =>
  h('p', { class: 'lead' }, ...children);

export function field(
  label: string,
  input: HTMLInputElement | HTMLSelectElement,
  hint?: string,
): HTMLElement {
  return h(
    'label',
    { class: 'field' },
    h('span', { class: 'field-label' }, label),
    input,
    hint !== undefined && h('span', { class: 'hint' }, hint),
  );
}

/**
 * A submit handler for forms that the page handles itself: the browser sends nothing. While `handle` runs, the form is marked busy and
 * ignores further submits. Its buttons are not disabled, because a disabled button loses the focus.
 */
export const submitting =
  (handle: (event: SubmitEvent) => unknown) =>
  async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    if (form.getAttribute('aria-busy') === 'true') return;
    form.setAttribute('aria-busy', 'true');
    try {
      await handle(event);
    } finally {
      form.setAttribute('aria-busy', 'false');
    }
  };

/** Attributes of a required text field that rejects text of blanks only. */
export const WORDED = { required: true, pattern: '.*\\S.*', title: 'Not only blanks.' } as const;

/** Replaces a part of the page. If the focus was inside the old content, it moves to the heading of the new content. */
export function refillPart(element: Element, ...children: readonly Child[]): void {
  const hadFocus = element.contains(document.activeElement);
  fill(element, ...children);
  if (!hadFocus) return;
  const heading = element.querySelector<HTMLElement>('h1, h2, legend');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus({ preventScroll: true });
}
