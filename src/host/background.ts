/**
 * The request of a page to the service worker of its app, in the tag of a Background Sync: to continue the sync of a database while no page
 * is open. The tag holds everything that is needed, because there may be no page to ask when the browser fires the sync.
 */
import { acceptedOptions } from './options.ts';
import { SETTINGS, type Settings } from './settings.ts';

export interface BackgroundSyncRequest {
  /** Name under which the database is stored. */
  readonly name: string;
  readonly settings: Settings;
}

/** The API of worker.js for a service worker that imports it. `burrowSync` rejects when it is to be tried again. */
export interface BackgroundEngine {
  burrowSync(tag: string): Promise<void>;
}

const PREFIX = 'burrow-sync ';

export const isBackgroundTag = (tag: string): boolean => tag.startsWith(PREFIX);

/** Equal requests have equal tags, so the browser keeps only one of them. */
export const backgroundTag = ({ name, settings }: BackgroundSyncRequest): string =>
  PREFIX + JSON.stringify({ name, settings });

/**
 * Undefined if the tag is not one of Burrow's. Options that this build does not know are ignored; options whose values it does not accept
 * get their defaults.
 */
export function backgroundRequestIn(tag: string): BackgroundSyncRequest | undefined {
  if (!isBackgroundTag(tag)) return undefined;
  const { name, settings } = objectIn(tag.slice(PREFIX.length));
  if (typeof name !== 'string' || name === '') return undefined;
  return { name, settings: acceptedOptions(SETTINGS, settings) };
}

function objectIn(text: string): { readonly name?: unknown; readonly settings?: unknown } {
  try {
    return Object(JSON.parse(text)) as object;
  } catch {
    return {};
  }
}
