/** The events of a document: one for each version. Spec: sets 1.3, 1.5. */
import { unpackVersion, type StoredVersion } from '../../codec/row.ts';
import { changesOf } from '../../values/object-changes.ts';
import type { Reader } from '../../store/reader.ts';
import { isObject } from '../../values/value.ts';
import type { ActionName, Micros, ObjectValue, Ref } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import type { StoreContext } from '../context/context.ts';
import { fieldsOf, minimumValidTime } from './documents.ts';
import { versionRows, versionsWithin } from './history-rewrite.ts';
import { isGoneBefore, retained } from './retained.ts';

export interface DocumentEvent {
  readonly ts: Micros;
  readonly action: Extract<ActionName, 'create' | 'update' | 'delete'>;
  /** The changed fields of `data`. Null when nothing changed. */
  readonly data: ObjectValue | null;
}

/** The events that a page needs: up to `count` events starting at `ts`, or up to `ts`, both inclusive. */
export interface EventWindow {
  readonly side: 'from' | 'to';
  readonly ts: Micros;
  readonly count: number;
}

const ALL: EventWindow = { side: 'from', ts: -Infinity, count: Infinity };

/**
 * The retained events, ascending. The version that was valid when retention begins appears as created.
 * @param window all events in it are returned; others may be returned too
 */
export function documentEvents(
  context: EngineContext,
  ref: Ref,
  window = ALL,
): readonly DocumentEvent[] {
  const collection = context.schema(ref.database).collection(ref.collection);
  if (!collection) return [];
  const minimum = minimumValidTime(collection, context.snapshot);
  for (let most = window.count; ; most *= 8) {
    const found = versionsIn(context.reader, ref, minimum, { ...window, count: most });
    const events = eventsOf(context, ref, found);
    if (events.length >= window.count || found.isWhole) return events;
  }
}

interface FoundVersions {
  /** The version before `versions`, if it is retained. The changes of the first event are computed from it. */
  readonly base: StoredVersion | undefined;
  /** Whether `base` gets an event of its own. */
  readonly isEdge: boolean;
  readonly versions: readonly StoredVersion[];
  /** There are no more versions in the direction of the window. */
  readonly isWhole: boolean;
}

/** Reads up to `count` versions from `ts` on, or up to it, and the version before them. */
function versionsIn(
  reader: Reader,
  ref: Ref,
  minimum: Micros,
  { side, ts, count }: EventWindow,
): FoundVersions {
  const isFromEnd = side === 'to';
  const edge = isFromEnd ? minimum : Math.max(minimum, ts - 1);
  const through = isFromEnd ? ts : Infinity;
  const versions = versionsWithin(reader, ref, { after: edge, through, count, isFromEnd });
  const isWhole = versions.length < count;
  const [first] = versions;
  // Only the newest versions were read, so there are older ones before them.
  const before = isFromEnd && !isWhole && first ? first.ts - 1 : edge;
  const one = { after: -Infinity, through: before, count: 1, isFromEnd: true };
  const [base] = versionsWithin(reader, ref, one);
  const counts = base && !isGoneBefore(base, minimum);
  return { base: counts ? base : undefined, isEdge: before <= minimum, versions, isWhole };
}

function eventsOf(
  context: EngineContext,
  ref: Ref,
  { base, isEdge, versions }: FoundVersions,
): readonly DocumentEvent[] {
  const events: DocumentEvent[] = [];
  let before: ObjectValue | undefined;
  for (const version of base ? [base, ...versions] : versions) {
    const isListed = version !== base || isEdge;
    if (version.action === 'delete') {
      // Nothing to report if the version that was deleted is not retained.
      if (before) events.push({ ts: version.ts, action: 'delete', data: null });
      before = undefined;
      continue;
    }
    const data = dataOf(fieldsOf(context, ref, version));
    const action = before ? 'update' : 'create';
    const shown = before ? changesOf(before, data ?? NO_DATA) : (data ?? null);
    if (isListed) events.push({ ts: version.ts, action, data: shown });
    before = data ?? NO_DATA;
  }
  return events;
}

const NO_DATA: ObjectValue = new Map();

/** The retained versions of a document, oldest first, delete markers included. */
export function versionsOf(
  { reader, schema, snapshot }: StoreContext,
  ref: Ref,
): readonly StoredVersion[] {
  const collection = schema(ref.database).collection(ref.collection);
  if (!collection) return [];
  const versions = versionRows(reader, ref).map((row) => unpackVersion(String(row.value)));
  return retained(versions, minimumValidTime(collection, snapshot));
}

function dataOf(fields: ObjectValue): ObjectValue | undefined {
  const data = fields.get('data');
  return data !== undefined && isObject(data) ? data : undefined;
}
