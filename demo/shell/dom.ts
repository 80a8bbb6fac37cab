export type Child = Node | string | false | undefined;

type Handlers = {
  readonly [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void;
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

/** For a form that the page handles by itself: the browser sends nothing. */
export const submitting =
  (handle: (event: SubmitEvent) => void) =>
  (event: SubmitEvent): void => {
    event.preventDefault();
    handle(event);
  };
