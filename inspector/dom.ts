/** Creates DOM elements. Text is inserted as text nodes, so the page's Content-Security-Policy has nothing to forbid. */
export type Child = Node | string | false | undefined;

type Handlers = {
  readonly [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => unknown;
};

/** Attributes by name; `on` has event listeners. An attribute whose value is false or undefined is left out. */
export interface Attributes {
  readonly on?: Handlers;
  readonly [name: string]: string | number | boolean | Handlers | undefined;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  { on = {}, ...attributes }: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'string' || typeof value === 'number')
      element.setAttribute(name, String(value));
    else if (value === true) element.setAttribute(name, '');
  }
  for (const [type, listener] of Object.entries(on))
    element.addEventListener(type, listener as EventListener);
  fill(element, ...children);
  return element;
}

/** Replaces all children of an element. */
export function fill(element: ParentNode, ...children: readonly Child[]): void {
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

/** A drop-down list. The values are the names of the options. */
export const select = (
  id: string,
  options: Readonly<Record<string, { readonly label: string }>>,
  onChange: () => void,
): HTMLSelectElement =>
  h(
    'select',
    { id, on: { change: onChange } },
    ...Object.entries(options).map(([value, { label }]) => h('option', { value }, label)),
  );

/** Whether an element in a shadow root contains the focus: a focused element must not be moved or replaced. */
export function hasFocus(element: Element): boolean {
  const root = element.getRootNode();
  return root instanceof ShadowRoot && element.contains(root.activeElement);
}

/** A list of names with values. */
export const facts = (pairs: readonly (readonly [name: string, value: Child])[]): HTMLElement =>
  h(
    'dl',
    { class: 'facts' },
    ...pairs.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );

/** @param caption name of the table for screen readers */
export const table = (
  caption: string,
  head: readonly string[],
  rows: readonly (readonly Child[])[],
): HTMLElement =>
  h(
    'div',
    { class: 'wide', tabindex: 0, role: 'region', 'aria-label': caption },
    h(
      'table',
      {},
      h('thead', {}, h('tr', {}, ...head.map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, ...rows.map((row) => h('tr', {}, ...row.map((cell) => h('td', {}, cell))))),
    ),
  );

export const code = (text: string, attributes: Attributes = {}): HTMLElement =>
  h('pre', { tabindex: 0, ...attributes }, text);
