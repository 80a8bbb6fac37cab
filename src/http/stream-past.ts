/** The history of a document when it was last read, so that rewrites of it (`insert`, `remove`) can be reported. Spec: auth 5. */
import { parseJson, type Json, type JsonObject } from '../codec/json.ts';
import { isSameInside, patchedObject } from '../values/object-changes.ts';
import type { Micros } from '../values/value.ts';

/** A version: its action and all of its data. */
interface Past {
  readonly action: string;
  readonly data: Json;
}

/** By time. */
export type KnownPast = Map<Micros, Past>;

/** Versions further back than this many are not followed. */
const PAST_MAX = 1000;

export const pastQuery = (ref: string): string =>
  `{"paginate":{"events":${ref}},"before":null,"size":${PAST_MAX}}`;

/** Adds an event that was emitted. */
export function addToPast(past: KnownPast, ts: Micros, event: JsonObject): void {
  const action = actionOf(event);
  const document = event.get('document');
  const data = document instanceof Map && action !== 'delete' ? document.get('data') : null;
  past.set(ts, { action, data: data ?? null });
}

/** @param body answers `pastQuery` */
export function readPast(body: string): KnownPast {
  const json = parseJson(body);
  const page = json instanceof Map ? json.get('resource') : undefined;
  const events = page instanceof Map ? page.get('data') : undefined;
  const past: KnownPast = new Map();
  let data: Json = null;
  for (const event of Array.isArray(events) ? events : []) {
    if (!(event instanceof Map)) continue;
    const action = actionOf(event);
    const change = event.get('data') ?? null;
    if (action === 'update') data = patched(data, change);
    else data = change;
    past.set(Number(event.get('ts')), { action, data });
  }
  return past;
}

export interface HistoryRewrite {
  /** Times of versions or deletions that were inserted or replaced. */
  readonly put: readonly Micros[];
  /** Removed versions and deletions. */
  readonly taken: readonly { readonly ts: Micros; readonly action: string }[];
}

/** @param reported times of versions that were emitted as new ones */
export function historyRewriteBetween(
  before: KnownPast,
  now: KnownPast,
  reported: ReadonlySet<Micros>,
): HistoryRewrite {
  const put = [...now].flatMap(([ts, { data }]) =>
    reported.has(ts) || isSameData(before.get(ts), data) ? [] : [ts],
  );
  const taken = [...before].flatMap(([ts, { action }]) => (now.has(ts) ? [] : [{ ts, action }]));
  return { put, taken };
}

function actionOf(event: JsonObject): string {
  const action = event.get('action');
  return typeof action === 'string' ? action : '';
}

const isSameData = (known: Past | undefined, data: Json): boolean =>
  known !== undefined && isSameInside(known.data ?? NO_DATA, data ?? NO_DATA);

const NO_DATA: JsonObject = new Map();

function patched(to: Json, change: Json): Json {
  if (!(change instanceof Map)) return change ?? to;
  return patchedObject<Json>(to instanceof Map ? to : NO_DATA, change);
}
