/** Elements of the demo: those of the inspector, and forms. */
import { fill, h, type Child } from '../../inspector/dom.ts';

export { button, fill, h, hint, type Child } from '../../inspector/dom.ts';

export const lead = (...children: readonly Child[]): HTMLElement =>
  h('p', { class: 'lead' }, ...children);

/** A form field with its label. */
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
 * For a form that the page handles by itself: the browser sends nothing. Until that is done the form is busy and takes nothing
 * else. Its buttons are not disabled, because a disabled one loses the focus.
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

/** Of a field for text: required, and blanks alone are refused. */
export const WORDED = { required: true, pattern: '.*\\S.*', title: 'Not only blanks.' } as const;

/** Replaces a part of the page. If the focus was in it, it goes to the heading of what is there now. */
export function refillPart(element: Element, ...children: readonly Child[]): void {
  const hadFocus = element.contains(document.activeElement);
  fill(element, ...children);
  if (!hadFocus) return;
  const heading = element.querySelector<HTMLElement>('h1, h2, legend');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus({ preventScroll: true });
}
