/** The history of a document as it was last read, to detect when `insert` and `remove` rewrite it. Spec: auth 5. */
import type { Json, JsonObject } from '../codec/json.ts';
import { isSameInside, patchedObject } from '../values/object-changes.ts';
import type { Micros } from '../values/value.ts';
import { actionIn, resourceOf } from './stream-events.ts';

/** A version of the document: the action, and all of its data. */
interface Past {
  readonly action: string;
  readonly data: Json;
}

export interface KnownPast {
  /** By time, oldest first. */
  readonly versions: Map<Micros, Past>;
  /** There may be older versions, which are not followed. */
  isCut: boolean;
}

/** At most this many of the latest versions are followed. */
const PAST_MAX = 1000;

/** A query for time, action and data of each event. The action as text, because API version 2.0 renders an `update` as `create`. */
export function pastQuery(ref: string): string {
  const of = (member: string): string => `{"select":"${member}","from":{"var":"e"},"default":null}`;
  const event = `[${of('ts')},{"to_string":${of('action')}},${of('data')}]`;
  const page = `{"paginate":{"events":${ref}},"before":null,"size":${PAST_MAX}}`;
  return `{"select":"data","from":{"map":{"lambda":"e","expr":${event}},"collection":${page}}}`;
}

/** Adds an event that was emitted. */
export function addToPast(past: KnownPast, ts: Micros, event: JsonObject): void {
  const { versions } = past;
  const action = actionIn(event.get('action'));
  const document = event.get('document');
  const data = document instanceof Map && action !== 'delete' ? document.get('data') : null;
  versions.set(ts, { action, data: data ?? null });
  if (versions.size <= PAST_MAX) return;
  versions.delete(firstOf(past));
  past.isCut = true;
}

/**
 * Reads the history from the answer to a query.
 * @param body the answer to `pastQuery`
 * @param dataAt reads the data of the document at a time; needed if older versions are cut off, since the first event has only a change
 */
export async function readPast(
  body: string,
  dataAt: (ts: Micros) => Promise<Json | undefined>,
): Promise<KnownPast> {
  const versions: KnownPast['versions'] = new Map();
  const events = listOf(resourceOf(body)).map(listOf);
  const isCut = events.length >= PAST_MAX;
  let data: Json = (isCut ? await dataAt(Number(events[0]?.[0])) : null) ?? null;
  for (const [ts, action, change = null] of events) {
    data = action === 'update' ? patched(data, change) : change;
    versions.set(Number(ts), { action: actionIn(action), data });
  }
  return { versions, isCut };
}

const firstOf = ({ versions }: KnownPast): Micros => versions.keys().next().value ?? 0;

const listOf = (json: Json | undefined): readonly Json[] => (Array.isArray(json) ? json : []);

export interface HistoryRewrite {
  /** Times of versions and deletions that were inserted or replaced. */
  readonly put: readonly Micros[];
  /** Versions and deletions that were removed. */
  readonly taken: readonly { readonly ts: Micros; readonly action: string }[];
}

/** @param reported times of versions that were emitted as new versions */
export function historyRewriteBetween(
  before: KnownPast,
  now: KnownPast,
  reported: ReadonlySet<Micros>,
): HistoryRewrite {
  const from = Math.max(...[before, now].map((past) => (past.isCut ? firstOf(past) : 0)));
  const put = [...now.versions].flatMap(([ts, { data }]) =>
    ts < from || reported.has(ts) || isSameData(before.versions.get(ts), data) ? [] : [ts],
  );
  const taken = [...before.versions].flatMap(([ts, { action }]) =>
    ts < from || now.versions.has(ts) ? [] : [{ ts, action }],
  );
  return { put, taken };
}

/** Whether the known history ends with this version. Without a version: whether it is empty or ends with a deletion. */
export function endsWith({ versions }: KnownPast, version: Json | undefined): boolean {
  const [ts, last] = [...versions].at(-1) ?? [];
  return version instanceof Map
    ? Number(version.get('ts')) === ts && isSameData(last, version.get('data') ?? null)
    : !last || last.action === 'delete';
}

const isSameData = (known: Past | undefined, data: Json): boolean =>
  known !== undefined && isSameInside(known.data ?? NO_DATA, data ?? NO_DATA);

const NO_DATA: JsonObject = new Map();

function patched(to: Json, change: Json): Json {
  if (!(change instanceof Map)) return change ?? to;
  return patchedObject<Json>(to instanceof Map ? to : NO_DATA, change);
}
