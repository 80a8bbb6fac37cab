/** The events that a stream emits for a commit. Spec: auth 5. */
import { parseJson, type Json, type JsonObject } from '../codec/json.ts';
import { changesOf } from '../values/object-changes.ts';
import type { Micros } from '../values/value.ts';

export const STREAM_FIELDS = ['action', 'document', 'diff', 'prev', 'index'] as const;
export type StreamField = (typeof STREAM_FIELDS)[number];

/** A query for the version of a document at a time, and the version before it. `null` where the document did not exist. */
export function versionQuery(ref: string, ts: Micros): string {
  const read = `{"if":{"exists":${ref}},"then":{"get":${ref}},"else":null}`;
  const now = '{"var":"now"}';
  const before = `{"at":{"subtract":[{"select":"ts","from":${now}},1]},"expr":${read}}`;
  const both = `[${now},{"if":{"equals":[${now},null]},"then":null,"else":${before}}]`;
  return `{"let":{"now":{"at":${ts},"expr":${read}}},"in":${both}}`;
}

export interface FoundVersion {
  readonly now: JsonObject | null;
  readonly before: JsonObject | null;
}

/** @param body the answer to `versionQuery` */
export function foundVersion(body: string): FoundVersion {
  const found = resourceOf(body);
  const [now, before] = Array.isArray(found) ? found : [];
  return { now: documentIn(now), before: documentIn(before) };
}

const documentIn = (json: Json | undefined): JsonObject | null =>
  json instanceof Map ? json : null;

export const tsOf = (document: JsonObject): Micros => Number(document.get('ts'));

/** A query for the times after `seen` at which a document was created and deleted. */
export const deletionsQuery = (ref: string, seen: Micros): string =>
  `{"paginate":{"events":{"singleton":${ref}}},"after":${seen + 1},"size":1000}`;

/** Times of deletions. API version 2.0 names the action `delete`, later ones `remove`. @param body the answer to `deletionsQuery` */
export const foundDeletions = (body: string): readonly Micros[] =>
  eventsIn(body).flatMap((each) =>
    ['remove', 'delete'].includes(actionIn(each.get('action'))) ? [tsOf(each)] : [],
  );

export const actionIn = (json: Json | undefined): string => (typeof json === 'string' ? json : '');

function eventsIn(body: string): readonly JsonObject[] {
  const page = resourceOf(body);
  const data = page instanceof Map ? page.get('data') : undefined;
  return (Array.isArray(data) ? data : []).filter(
    (each): each is JsonObject => each instanceof Map,
  );
}

const NOTHING: JsonObject = new Map();

/** The event of a new version. @param before the previous version, or null if the document did not exist */
export function versionEvent(now: JsonObject, before: JsonObject | null): JsonObject {
  const action = before ? 'update' : 'create';
  const diff = withIdentity(changesOf(before ?? NOTHING, now) ?? NOTHING, now);
  return event({ action, document: now, diff, prev: before });
}

/** The event of a deletion. @param before the last version */
export function deletionEvent(before: JsonObject, ts: Micros): JsonObject {
  const gone = new Map([...before, ['ts', ts]] as [string, Json][]);
  return event({
    action: 'delete',
    document: gone,
    diff: withIdentity(NOTHING, gone),
    prev: before,
  });
}

/** The event of a version that was removed from the history. */
export const removedVersionEvent = (ref: string, ts: Micros, action: string): JsonObject =>
  event({ action, document: event({ ref: parseJson(ref), ts }) });

/** A query for one page of the entries that were added to a set or removed from it, starting at the cursor `after`. */
export const entriesQuery = (set: string, after: string): string =>
  `{"paginate":{"events":${set}},"after":{"quote":${after}},"size":${ENTRIES_AT_ONCE}}`;

const ENTRIES_AT_ONCE = 256;

const event = (members: Readonly<Record<string, Json>>): JsonObject =>
  new Map(Object.entries(members));

const withIdentity = (diff: JsonObject, document: JsonObject): JsonObject =>
  new Map<string, Json>([
    ['ref', document.get('ref') ?? null],
    ['ts', document.get('ts') ?? null],
    ...diff,
  ]);

export interface EntryEvents {
  readonly events: readonly { readonly ts: Micros; readonly event: JsonObject }[];
  /** The cursor of the next page. */
  readonly next: Json | undefined;
}

/**
 * Entries that were added to a set or removed from it up to `last`, by time, removals first.
 * @param body the answer to `entriesQuery`
 */
export function entryEvents(
  body: string,
  last: Micros,
  { index, terms }: { readonly index: Json; readonly terms: Json },
): EntryEvents {
  const page = resourceOf(body);
  const found = eventsIn(body);
  const events = found
    .filter((each) => tsOf(each) <= last)
    .map((each) => {
      const ts = tsOf(each);
      return {
        ts,
        event: event({
          action: each.get('action') ?? null,
          document: event({ ref: memberOf(each, 'document', 'instance', 'resource') ?? null, ts }),
          index: event({ ref: index, terms, values: memberOf(each, 'data', 'values') ?? [] }),
        }),
      };
    });
  const after = page instanceof Map ? page.get('after') : undefined;
  return { events, next: events.length === found.length ? after : undefined };
}

/** The first of the members that exists. Older API versions use other names. */
const memberOf = (json: JsonObject, ...names: readonly string[]): Json | undefined =>
  json.get(names.find((name) => json.has(name)) ?? '');

export const resourceOf = (body: string): Json | undefined => {
  const json = parseJson(body);
  return json instanceof Map ? json.get('resource') : undefined;
};

/** The requested fields, in the order of the full event. */
export const onlyFields = (full: JsonObject, fields: ReadonlySet<StreamField>): JsonObject =>
  new Map(
    [...full].filter(([name]) =>
      STREAM_FIELDS.some((field) => field === name && fields.has(field)),
    ),
  );
