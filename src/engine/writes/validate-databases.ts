/** Validation of databases. Spec: sets 1.1. */
import { collectionPrefix, databasePrefix, after } from '../../codec/key.ts';
import type { KeyRange } from '../../codec/ranges.ts';
import { scan } from '../../store/scan.ts';
import { nativeNumbers } from '../../values/native-kinds.ts';
import { integer } from '../../values/value.ts';
import type { CollectionId, DatabaseId } from '../../values/value.ts';
import { eachElement } from '../../query/collect-needs.ts';
import { databaseById, databaseIdOf } from '../catalog/databases.ts';
import {
  checkData,
  checkInteger,
  checkName,
  isBoolean,
  optional,
  refuse,
  refuseType,
  type Draft,
  type Kind,
} from './draft.ts';
import { globalIdText } from '../access/secrets.ts';
import type { EngineContext } from '../context/context.ts';

export const DATABASE: Kind = {
  refusesMisspelt: true,
  accepts: ['name', 'data', 'priority', 'container', 'protected', 'typechecked'],
  order: ['name', 'global_id', 'priority', 'container', 'protected', 'typechecked', 'data'],
  kept: ['name', 'global_id', 'container'],
  check(draft) {
    checkName(draft);
    checkData(draft);
    checkPriority(draft);
    optional(draft, 'protected', 'Boolean', isBoolean);
    optional(draft, 'typechecked', 'Boolean', isBoolean);
    checkContainer(draft);
    if (draft.mode === 'create') {
      draft.fields.set('global_id', globalIdText(draft.context.inputs.newId()));
    }
  },
};

const PRIORITY_MAX = 500;

export function checkPriority(draft: Draft): void {
  const priority = checkInteger(draft, 'priority');
  if (priority === undefined || (priority >= 1 && priority <= PRIORITY_MAX)) return;
  refuseType(draft, ['priority'], integer(BigInt(priority)), `Integer from 1 to ${PRIORITY_MAX}`);
}

/** A database with data cannot become a container, which holds only databases and keys. */
function checkContainer(draft: Draft): void {
  const container = optional(draft, 'container', 'Boolean', isBoolean);
  if (container !== true || draft.mode === 'create' || draft.previous?.get('container') === true) {
    return;
  }
  if (!holdsData(draft.context, databaseIdOf(draft.ref))) return;
  refuse(
    draft,
    ['container'],
    'container candidate contains data',
    'A database that holds data cannot become a container.',
  );
}

/** Native collections whose members a container may have, in the order of their keys. */
const IN_CONTAINERS = [...nativeNumbers((kind) => kind.isAllowedInContainer)];
export const isAllowedInContainer = (collection: CollectionId): boolean =>
  IN_CONTAINERS.includes(collection);

function holdsData(context: EngineContext, database: DatabaseId): boolean {
  const gaps: KeyRange[] = [];
  let lower = collectionPrefix(database, 1);
  for (const allowed of IN_CONTAINERS) {
    gaps.push({ lower, upper: collectionPrefix(database, allowed) });
    lower = after(collectionPrefix(database, allowed));
  }
  gaps.push({ lower, upper: after(databasePrefix(database)) });
  const isFilled = eachElement(
    gaps,
    (gap) => context.reader.range(scan('documents', gap, { limit: 1, rows: false })).length > 0,
  );
  return isFilled.includes(true);
}

/** Whether the database of this query is a container. */
export function isContainer(context: EngineContext): boolean {
  return databaseById(context.reader, context.database)?.isContainer === true;
}
