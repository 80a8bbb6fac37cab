/** The events of one commit, as a stream tells them. Spec: auth 5. */
import { parseJson, type Json, type JsonObject } from '../codec/json.ts';
import type { Micros } from '../values/value.ts';

export const STREAM_FIELDS = ['action', 'document', 'diff', 'prev', 'index'] as const;
export type StreamField = (typeof STREAM_FIELDS)[number];

/** Asks for a document as a commit left it, and as it found it; `null` where it was not there. */
export function versionsQuery(ref: string, ts: Micros): string {
  const read = `{"if":{"exists":${ref}},"then":{"get":${ref}},"else":null}`;
  return `[{"at":${ts},"expr":${read}},{"at":${ts - 1},"expr":${read}}]`;
}

/** Entries that came and went since `ts`; more than one page of them comes in pieces. */
export const entriesQuery = (set: string, after: string): string =>
  `{"paginate":{"events":${set}},"after":${after},"size":1000}`;

/** The change of a document at `ts`; undefined when the commit left it alone. `body` answers `versionsQuery`. */
export function versionEvent(body: string, ts: Micros): JsonObject | undefined {
  const found = resourceOf(body);
  const [now = null, before = null] = Array.isArray(found) ? found : [];
  if (now instanceof Map) {
    if (now.get('ts') !== ts) return undefined;
    const action = before instanceof Map ? 'update' : 'create';
    const base = before instanceof Map ? before : new Map<string, Json>();
    return event({
      action,
      document: now,
      diff: withIdentity(difference(base, now), now),
      prev: before,
    });
  }
  if (!(before instanceof Map)) return undefined;
  const gone = new Map([...before, ['ts', ts]] as [string, Json][]);
  return event({
    action: 'delete',
    document: gone,
    diff: withIdentity(new Map(), gone),
    prev: before,
  });
}

const event = (members: Readonly<Record<string, Json>>): JsonObject =>
  new Map(Object.entries(members));

const withIdentity = (diff: JsonObject, document: JsonObject): JsonObject =>
  new Map<string, Json>([
    ['ref', document.get('ref') ?? null],
    ['ts', document.get('ts') ?? null],
    ...diff,
  ]);

/** Members that `to` has otherwise than `from`; those it lacks are null. */
function difference(from: JsonObject, to: JsonObject): JsonObject {
  const diff = new Map<string, Json>();
  for (const [name, value] of to) {
    const earlier = from.get(name);
    if (earlier instanceof Map && value instanceof Map) {
      const inner = difference(earlier, value);
      if (inner.size > 0) diff.set(name, inner);
    } else if (earlier === undefined || !isSame(earlier, value)) diff.set(name, value);
  }
  for (const name of from.keys()) if (!to.has(name)) diff.set(name, null);
  return diff;
}

function isSame(left: Json, right: Json): boolean {
  if (Array.isArray(left) && Array.isArray(right))
    return (
      left.length === right.length && left.every((item, at) => isSame(item, right[at] ?? null))
    );
  if (left instanceof Map && right instanceof Map)
    return (
      left.size === right.size &&
      [...left].every(([name, value]) => right.has(name) && isSame(value, right.get(name) ?? null))
    );
  if (
    typeof left === 'object' &&
    typeof right === 'object' &&
    left &&
    right &&
    'value' in left &&
    'value' in right
  )
    return left.value === right.value;
  return left === right;
}

export interface EntryEvents {
  readonly events: readonly JsonObject[];
  /** Wire JSON of the cursor of what follows at the same time. */
  readonly next: Json | undefined;
}

/** Entries of a set that came or went at `ts`: removes before adds, as a changed entry is told. */
export function entryEvents(
  body: string,
  ts: Micros,
  { index, terms }: { readonly index: Json; readonly terms: Json },
): EntryEvents {
  const page = resourceOf(body);
  const data = page instanceof Map ? page.get('data') : undefined;
  const found = (Array.isArray(data) ? data : []).filter(
    (each): each is JsonObject => each instanceof Map && each.get('ts') === ts,
  );
  const rank = (each: JsonObject): number => (each.get('action') === 'remove' ? 0 : 1);
  const events = [...found]
    .sort((left, right) => rank(left) - rank(right))
    .map((each) =>
      event({
        action: each.get('action') ?? null,
        document: new Map<string, Json>([
          ['ref', each.get('document') ?? null],
          ['ts', ts],
        ]),
        index: new Map<string, Json>([
          ['ref', index],
          ['terms', terms],
          ['values', each.get('data') ?? []],
        ]),
      }),
    );
  const after = page instanceof Map && found.length > 0 ? page.get('after') : undefined;
  const isSameTime = after instanceof Map && after.get('ts') === ts;
  return { events, next: isSameTime ? after : undefined };
}

const resourceOf = (body: string): Json | undefined => {
  const json = parseJson(body);
  return json instanceof Map ? json.get('resource') : undefined;
};

/** The fields that were asked for, in the order of the full event. */
export const onlyFields = (full: JsonObject, fields: ReadonlySet<StreamField>): JsonObject =>
  new Map(
    [...full].filter(([name]) =>
      STREAM_FIELDS.some((field) => field === name && fields.has(field)),
    ),
  );
