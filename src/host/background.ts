/**
 * What a page asks of the service worker of its app, by the tag of a Background Sync: to go on with the sync of a database while no
 * page is open. The tag tells all that is needed, since nobody is there to be asked when the browser sends it.
 */
import { acceptedOptions } from './options.ts';
import { SETTINGS, type Settings } from './settings.ts';

export interface BackgroundSyncRequest {
  /** Under which the database is stored. */
  readonly name: string;
  readonly settings: Settings;
}

/** What worker.js is for a service worker that imports it: rejects when it is to be tried again. */
export interface BackgroundEngine {
  burrowSync(tag: string): Promise<void>;
}

const PREFIX = 'burrow-sync ';

export const isBackgroundTag = (tag: string): boolean => tag.startsWith(PREFIX);

/** The same database has the same tag, so the browser keeps one request of each. */
export const backgroundTag = ({ name, settings }: BackgroundSyncRequest): string =>
  PREFIX + JSON.stringify({ name, settings });

/** Undefined: it is none of ours. An option that this build does not have, or not so, has its default. */
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
