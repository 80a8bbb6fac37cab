/**
 * `burrowdb/inspector`: shows a database in the page that has it open. An app loads it on demand: `import('burrowdb/inspector')`. It is
 * meant for development, because it reads with the root secret.
 */
import { UsageError, type Client, type Database } from '../src/index.ts';
import { BurrowInspector, requireDatabase } from './element.ts';

export { BurrowInspector };

export interface InspectorOptions {
  /** A client of the app, such as `sync.client`: the shell can run queries with it, not only with the root secret. */
  readonly client?: Client;
  /** The element that the inspector is appended to. By default, it is docked to the lower edge of the window. */
  readonly parent?: Element;
}

const NAME = 'burrow-inspector';

const { customElements } = globalThis as Partial<Pick<Window, 'customElements'>>;
if (customElements && !customElements.get(NAME)) customElements.define(NAME, BurrowInspector);

/**
 * Shows the inspector for a database.
 * @returns the element. `remove()` closes it; at the lower edge of the window, the Escape key does too
 * @throws UsageError when an argument is wrong
 * @example
 * const inspector = mountInspector(db);
 * inspector.remove();
 */
export function mountInspector(
  database: Database,
  options: InspectorOptions = {},
): BurrowInspector {
  requireDatabase(database);
  const { client, parent, ...others } = Object(options) as InspectorOptions;
  if (typeof options !== 'object' || Object.keys(others).length > 0)
    throw new UsageError('The options of the inspector are { client, parent }.');
  if (parent !== undefined && !(parent as Partial<Element> | null)?.append)
    throw new UsageError('The option `parent` must be an element.');
  const element = new BurrowInspector();
  element.client = client;
  element.database = database;
  element.opener = document.activeElement;
  if (!parent) element.setAttribute('docked', '');
  (parent ?? document.body).append(element);
  element.focus();
  return element;
}
