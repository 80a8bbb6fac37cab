/** What happened to a set: when its tuples came and went. Spec: sets 1.3, 6. */
import { fail, type Step } from '../../errors.ts';
import { positionOf } from '../../query/query-path.ts';
import type { Event, Micros, Ref, Value } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { minimumValidTime } from '../documents/documents.ts';
import { asHistory, compareChanges, type Change } from './changes.ts';
import type { ChangesRequest, Sets } from './operation.ts';
import type { SetTarget } from './set-cursor.ts';

export interface HistoryRequest extends ChangesRequest {
  /** Nothing later is listed; undefined: all. */
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
    .changesOf(target, request)
    .filter((change) => isWithin(change, request.past) && isRetained(change))
    .sort(compareChanges);
}

const isWithin = ({ ts }: Change, past: Micros | undefined): boolean =>
  past === undefined || ts <= past;

/** Spec: sets 1.3. What a document shows of itself at the edge of retention is decided where it is read. */
function retention({ schema, snapshot }: EngineContext): (change: Change) => boolean {
  const minimums = new Map<number, Micros>();
  const minimumOf = ({ database, collection }: Ref): Micros => {
    let minimum = minimums.get(collection);
    if (minimum === undefined) {
      const definition = schema(database).collection(collection);
      // Events of documents whose collection is gone are hidden.
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

/** How an event is shown in a page. */
export function eventOf({ ts, action, tuple, data }: Change): Event {
  const shown = data === undefined ? tuple.values : data;
  return { kind: 'event', ts, action, document: tuple.ref, data: shown };
}

/** The cursor of an event: without what happened to the document. */
export const eventCursorOf = (change: Change): Event => ({
  ...eventOf(change),
  data: change.tuple.values,
});

/** The histories of the sets a change comes from. */
export const sourcesOfChange = ({ tuple }: Change): readonly Value[] => asHistory(tuple.sources);
