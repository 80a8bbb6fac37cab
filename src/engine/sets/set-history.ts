/** What happened to a set: when its tuples came and went. Spec: sets 1.3, 6. */
import { fail, unreachable, type Step } from '../../errors.ts';
import { positionOf } from '../../query/query-path.ts';
import { isKind } from '../../values/value.ts';
import type { Event, Micros, Ref, SetValue, Value } from '../../values/value.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { EngineContext } from '../context/context.ts';
import { documentEvents } from '../documents/document-events.ts';
import { minimumValidTime } from '../documents/documents.ts';
import { pickRun } from './algebra.ts';
import {
  asHistory,
  combinedChanges,
  compareChanges,
  joinedChanges,
  unitedChanges,
  type Change,
} from './changes.ts';
import { changesOfDocument, changesOfDocuments, changesOfMatch } from './stored-changes.ts';
import { indexOfSet, targetOf, type Reading } from './open-set.ts';
import type { SetTarget } from './set-cursor.ts';
import { shapeOf } from './shape.ts';
import { RefTuple, type Tuple } from './tuple.ts';
import { isNativeCollectionRef } from '../../values/native-refs.ts';

export interface HistoryRequest {
  /** Nothing later is listed; undefined: all. */
  readonly past: Micros | undefined;
  readonly sources: boolean;
  readonly filtered: boolean;
}

/**
 * The retained events of a set, or of a document, in order.
 * @throws QueryFailure `invalid argument` at the form for sets without history
 */
export function historyOf(
  context: EngineContext,
  target: SetTarget,
  reading: Reading,
  request: HistoryRequest,
): readonly Change[] {
  if (!shapeOf(context, target).hasHistory) failNoHistory(positionOf(reading.path));
  const reader = new HistoryReader(context, reading, request);
  return reader
    .changesOf(target)
    .filter((change) => reader.isListed(change))
    .sort(compareChanges);
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

class HistoryReader {
  private readonly context: EngineContext;
  private readonly reading: Reading;
  private readonly request: HistoryRequest;
  private readonly minimums = new Map<number, Micros>();

  constructor(context: EngineContext, reading: Reading, request: HistoryRequest) {
    this.context = context;
    this.reading = reading;
    this.request = request;
  }

  /** All that is stored, in no order: combined sets need to know what was there before the first event listed. */
  changesOf(target: SetTarget): readonly Change[] {
    if (target.kind === 'ref') {
      return isNativeCollectionRef(target)
        ? this.ofCollection(target, target)
        : this.ofOwnHistory(target);
    }
    switch (target.op) {
      case 'match':
        return this.ofMatch(target);
      case 'documents':
        return this.ofCollection(target.collection, target);
      case 'singleton':
        return this.ofDocument(target.ref, target);
      case 'events':
        return this.changesOf(target.of);
      case 'union':
        return unitedChanges(target.sets.map((set) => this.changesOf(set)));
      case 'intersection':
        return this.combined(target.sets, (runs) =>
          pickRun(runs, (a, b) => a < b, { backward: false, sources: this.request.sources }),
        );
      case 'difference':
        return this.combined(target.sets, ([first = [], ...others]) =>
          others.some((run) => run.length > 0) ? [] : first,
        );
      case 'join':
        return this.ofJoin(target);
      case 'distinct':
      case 'filter':
      case 'range':
      case 'reverse':
        return this.changesOf(target.set);
      default:
        return unreachable(target);
    }
  }

  /** Spec: sets 1.3. What a document shows of itself at the edge of retention is decided where it is read. */
  isListed({ ts, action, tuple, data }: Change): boolean {
    if (this.request.past !== undefined && ts > this.request.past) return false;
    if (data !== undefined) return true;
    const minimum = this.minimumOf(tuple.ref);
    return ts > minimum || (ts === minimum && action === 'add');
  }

  private minimumOf({ database, collection }: Ref): Micros {
    let minimum = this.minimums.get(collection);
    if (minimum === undefined) {
      const { snapshot } = this.context;
      const definition = this.context.schema(database).collection(collection);
      // Events of documents whose collection is gone are hidden.
      minimum = definition ? minimumValidTime(definition, snapshot) : Infinity;
      this.minimums.set(collection, minimum);
    }
    return minimum;
  }

  private ofMatch(set: Extract<SetValue, { readonly op: 'match' }>): readonly Change[] {
    const { permissions } = this.context;
    const { terms } = set;
    const index = indexOfSet(this.context, set.index, this.reading);
    if (!permissions.may({ action: 'read_index', index, terms })) return [];
    const changes = changesOfMatch(this.context, index, set, this.request.sources);
    const isOpen = permissions.may({ action: 'read_all_of_index', index, terms });
    return this.readable(changes, isOpen, (ref) =>
      permissions.may({ action: 'read_entry', ref, index }),
    );
  }

  private ofCollection(collection: Ref, set: SetTarget): readonly Change[] {
    const { permissions } = this.context;
    const changes = changesOfDocuments(this.context, collection, this.sourcesOf(set));
    const isOpen = permissions.may({ action: 'read_all_of_collection', collection });
    return this.readable(changes, isOpen, (ref) => permissions.may({ action: 'read', ref }));
  }

  private ofDocument(ref: Ref, set: SetTarget): readonly Change[] {
    if (!this.context.permissions.may({ action: 'read', ref })) return [];
    return changesOfDocument(this.context, ref, this.sourcesOf(set));
  }

  private ofOwnHistory(ref: Ref): readonly Change[] {
    if (!this.context.permissions.may({ action: 'history_read', ref })) return [];
    const tuple = new RefTuple(ref, this.sourcesOf(ref));
    return documentEvents(this.context, ref).map((event) => ({ ...event, tuple }));
  }

  private ofJoin(set: Extract<SetValue, { readonly op: 'join' }>): readonly Change[] {
    const target = targetOf(this.context, this.reading, set.with);
    return joinedChanges(this.changesOf(set.set), (element) => this.changesOf(target(element)));
  }

  private combined(
    sets: readonly SetValue[],
    combine: (runs: readonly (readonly Tuple[])[]) => readonly Tuple[],
  ): readonly Change[] {
    return combinedChanges(
      sets.map((set) => this.changesOf(asSetOfDocument(set))),
      combine,
    );
  }

  private readable(
    changes: readonly Change[],
    isOpen: boolean,
    mayRead: (ref: Ref) => boolean,
  ): readonly Change[] {
    if (isOpen && !this.request.filtered) return changes;
    const readable = eachElement(changes, ({ tuple }) => mayRead(tuple.ref));
    return changes.filter((_, i) => readable[i]);
  }

  private sourcesOf(set: SetTarget): readonly Value[] {
    return this.request.sources ? [set] : [];
  }
}

/** Where a set is needed, the history of a document is that of the set of it. */
const asSetOfDocument = (set: SetValue): SetValue =>
  set.op === 'events' && isKind(set.of, 'ref') && !isNativeCollectionRef(set.of)
    ? { kind: 'set', op: 'singleton', ref: set.of }
    : set;

/** The histories of the sets a change comes from. */
export const sourcesOfChange = ({ tuple }: Change): readonly Value[] => asHistory(tuple.sources);
