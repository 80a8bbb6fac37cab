/** The history of a set: when its tuples were added and removed. Spec: sets 1.3, 6. */
import { fail, type Step } from '../../errors.ts';
import { positionOf } from '../../query/query-path.ts';
import type { Event, Micros, Ref, Value } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { minimumValidTime } from '../documents/documents.ts';
import { asHistory, compareChanges, type Change } from './changes.ts';
import type { ChangesRequest, Sets } from './operation.ts';
import type { SetTarget } from './set-cursor.ts';
import { cursorOf } from './tuple.ts';

export interface HistoryRequest extends Omit<ChangesRequest, 'asMember'> {
  /** Events after this time are left out. Undefined: no limit. */
  readonly past: Micros | undefined;
}

/**
 * The retained events of a set, or of a document, in order.
 * @throws QueryFailure `invalid argument` at the form for sets without history
 */
export function historyOf(
  sets: Sets,
  target: SetTarget,
  request: HistoryRequest,
): readonly Change[] {
  if (!sets.shapeOf(target).hasHistory) failNoHistory(positionOf(sets.reading.path));
  const isRetained = retention(sets.context);
  return sets
    .changesOf(target, { ...request, asMember: false })
    .filter((change) => isWithin(change, request.past) && isRetained(change))
    .sort(compareChanges);
}

const isWithin = ({ ts }: Change, past: Micros | undefined): boolean =>
  past === undefined || ts <= past;

/**
 * Returns a test for retained changes. Spec: sets 1.3. The history of a document is already limited where it is read (`documentEvents`).
 */
function retention({ schema, snapshot }: EngineContext): (change: Change) => boolean {
  const minimums = new Map<number, Micros>();
  const minimumOf = ({ database, collection }: Ref): Micros => {
    let minimum = minimums.get(collection);
    if (minimum === undefined) {
      const definition = schema(database).collection(collection);
      // Events of documents whose collection was deleted are hidden.
      minimum = definition ? minimumValidTime(definition, snapshot) : Infinity;
      minimums.set(collection, minimum);
    }
    return minimum;
  };
  return ({ ts, action, tuple, data }) => {
    if (data !== undefined) return true;
    const minimum = minimumOf(tuple.ref);
    return ts > minimum || (ts === minimum && action === 'add');
  };
}

export const failNoHistory = (position: readonly Step[]): never =>
  fail('invalid argument', position, 'Set does not support events history.');

/** An event as an element of a page. */
export function eventOf({ ts, action, tuple, data }: Change): Event {
  const shown = data === undefined ? tuple.values : data;
  return { kind: 'event', ts, action, document: tuple.ref, data: shown };
}

/**
 * The cursor of an event. It contains the covered values instead of the changed fields. If the neighbouring event on the other side of the
 * cursor has the same values (1 and 1.0 in one document are two entries), it contains the cursor of the entry, which distinguishes them.
 */
export function eventCursorOf(change: Change, neighbour?: Change): Event {
  const { tuple, ts, action } = change;
  const { values } = tuple;
  const isSameTime = neighbour?.ts === ts && neighbour.action === action;
  const exact = cursorOf(tuple, isSameTime ? neighbour.tuple : undefined);
  const isTwin = values && exact.length > values.length + 1;
  return { ...eventOf(change), data: isTwin ? exact : values };
}

/** The sources of a change: the histories of the sets that it comes from. */
export const sourcesOfChange = ({ tuple }: Change): readonly Value[] => asHistory(tuple.sources);
