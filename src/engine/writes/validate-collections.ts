/** Validation of collections. Spec: sets 1.1, 1.3. */
import { LIMITS } from '../../limits.ts';
import { DAY_MICROS } from '../../values/time.ts';
import type { CollectionId, Micros, ObjectValue, Ref } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { integerAt, sourceCovering, type IndexDefinition } from '../catalog/definitions.ts';
import { deleteDocument } from '../documents/write-version.ts';
import { checkData, checkInteger, checkName, refuse, type Draft, type Kind } from './draft.ts';
import { checkPermissions } from './check-permissions.ts';

export const COLLECTION: Kind = {
  refusesMisspelt: true,
  accepts: ['name', 'history_days', 'ttl_days', 'data', 'permissions'],
  order: ['history_days', 'name', 'ttl_days', 'data', 'permissions', 'floor'],
  kept: ['name', 'history_days', 'floor'],
  check(draft) {
    checkName(draft);
    if (draft.mode === 'create' && !draft.params.has('history_days')) {
      draft.fields.set('history_days', LIMITS.historyDaysDefault);
    }
    const days = checkInteger(draft, 'history_days');
    if (days !== undefined && days < 0) {
      refuse(draft, ['history_days'], 'non-negative value required', 'Value must not be negative.');
    }
    checkInteger(draft, 'ttl_days');
    checkData(draft);
    checkPermissions(draft, ['create', 'read', 'write']);
    keepFloor(draft);
  },
  beforeDelete: deleteIndexesOf,
};

/** History that is no longer retained stays unreadable when `history_days` is increased. */
function keepFloor({ context, previous, fields }: Draft): void {
  if (!previous) return;
  const floor = Math.max(integerAt(previous, 'floor') ?? 0, keptSince(previous, context.snapshot));
  if (floor > 0) fields.set('floor', floor);
}

function keptSince(fields: ObjectValue, snapshot: Micros): Micros {
  const days = integerAt(fields, 'history_days');
  return days === undefined ? 0 : Math.max(0, snapshot - days * DAY_MICROS);
}

/** Deletes the indexes that have no other source than the deleted collection. */
function deleteIndexesOf(context: EngineContext, collection: Ref): void {
  const id = Number(collection.id);
  const indexes = context.schema(collection.database).indexesOf(id);
  for (const index of indexes) if (isOnlyOf(index, id)) deleteDocument(context, index.ref);
}

const isOnlyOf = (index: IndexDefinition, collection: CollectionId): boolean =>
  sourceCovering(index, collection) !== undefined &&
  index.sources.every((each) => each.collections !== 'all' && each.collections.size === 1) &&
  index.sources.every((each) => each.collections !== 'all' && each.collections.has(collection));
