export type Child = Node | string | false | undefined;

type Handlers = {
  readonly [K in keyof HTMLElementEventMap]?: (
    event: HTMLElementEventMap[K],
  ) => void | Promise<void>;
};

/** Attributes by name; `on` holds listeners. False and undefined leave an attribute out. */
export interface Attributes {
  readonly on?: Handlers;
  readonly [name: string]: string | number | boolean | Handlers | undefined;
}

/** An element with attributes and children: text goes in as text, so nothing needs escaping. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  const { on = {}, ...plain } = attributes;
  for (const [name, value] of Object.entries(plain)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? '' : `${value as string | number}`);
  }
  for (const [type, listener] of Object.entries(on)) {
    element.addEventListener(type, listener as EventListener);
  }
  fill(element, ...children);
  return element;
}

/** Replaces all that an element holds. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(
    ...children.filter((child): child is Node | string => child !== undefined && child !== false),
  );
}

export const button = (
  label: string,
  run: () => unknown,
  attributes: Attributes = {},
): HTMLButtonElement =>
  h('button', { type: 'button', ...attributes, on: { click: () => void run() } }, label);

export const hint = (...children: readonly Child[]): HTMLElement =>
  h('p', { class: 'hint' }, ...children);

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
