/** What happened to a document: one event a version. Spec: sets 1.3, 1.5. */
import { unpackVersion, type StoredVersion } from '../../codec/row.ts';
import { changesOf } from '../../values/object-changes.ts';
import { isObject } from '../../values/value.ts';
import type { ActionName, Micros, ObjectValue, Ref } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import type { StoreContext } from '../context/context.ts';
import { fieldsOf, minimumValidTime } from './documents.ts';
import { versionRows } from './history-rewrite.ts';
import { retained } from './retained.ts';

export interface DocumentEvent {
  readonly ts: Micros;
  readonly action: Extract<ActionName, 'create' | 'update' | 'delete'>;
  /** The changed members of `data`, null when none. */
  readonly data: ObjectValue | null;
}

/** Ascending; only what is retained. What stood at the edge of retention is shown as created then. */
export function documentEvents(context: EngineContext, ref: Ref): readonly DocumentEvent[] {
  const collection = context.schema(ref.database).collection(ref.collection);
  if (!collection) return [];
  const minimum = minimumValidTime(collection, context.snapshot);
  const versions = versionsOf(context, ref);
  const edge = versions.findLastIndex((version) => version.ts <= minimum);
  const events: DocumentEvent[] = [];
  let before: ObjectValue | undefined;
  for (const version of versions.slice(Math.max(edge, 0))) {
    if (version.action === 'delete') {
      // At the edge there is nothing left of what it deleted.
      if (before) events.push({ ts: version.ts, action: 'delete', data: null });
      before = undefined;
      continue;
    }
    const data = dataOf(fieldsOf(context, ref, version));
    events.push({
      ts: version.ts,
      action: before ? 'update' : 'create',
      data: before ? changesOf(before, data ?? NO_DATA) : (data ?? null),
    });
    before = data ?? NO_DATA;
  }
  return events;
}

const NO_DATA: ObjectValue = new Map();

/** The versions of a document that count, oldest first, ends of it included. */
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
