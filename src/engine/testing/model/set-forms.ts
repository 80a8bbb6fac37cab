/** Forms of the reference model for sets. */
import type { PartObject } from '../query-text.ts';
import { any, Fault, integer, refOrSet, set, some } from './casts.ts';
import { memberOf, textIn, type Call, type Form } from './call.ts';
import { covered } from './database.ts';
import {
  areCompatible,
  between,
  CHOICES,
  combined,
  distinct,
  elementOf,
  eventsPage,
  filtered,
  joined,
  pageOf,
  turned,
  unitedChanges,
} from './sets.ts';
import { DocRef, equal, isList, SetOf, Silent, type Value } from './values.ts';

const asList = (value: Value): readonly Value[] => (isList(value) ? value : [value]);

const algebra =
  (op: string): Form =>
  (call) => {
    const sets = call.arguments({ [op]: some(set) })[op] ?? [];
    if (!areCompatible(sets)) throw new Fault('invalid argument', call.path(op));
    const changesOf =
      op === 'union'
        ? () => unitedChanges(sets)
        : ({ tuplesAt }: SetOf) => call.model.documents.changesOf(tuplesAt);
    return combined(sets, CHOICES[op] as (typeof CHOICES)[string], changesOf);
  };

function paginate(call: Call): Value {
  const side = call.has('before') ? 'before' : 'after';
  // In the order in which the parameters are declared.
  const {
    paginate: target,
    [side]: given,
    size = 64n,
  } = call.arguments({ paginate: refOrSet, [side]: any, size: integer }) as {
    paginate: DocRef | SetOf;
    size?: bigint;
  } & Record<string, Value | undefined>;
  if (target instanceof DocRef) throw new Silent('pages of one document');
  if (call.has('events')) return events(call, target, Number(size), given, side);
  const cursor =
    given === undefined ? undefined : ({ side, given: isList(given) ? given : [given] } as const);
  return pageOf(target, call.scope.time, Number(size), cursor);
}

function events(
  call: Call,
  target: SetOf,
  size: number,
  given: Value | undefined,
  side: 'before' | 'after',
): Value {
  if (target.flags.length === 0) throw new Silent('events of joins by a lambda');
  if (!target.changes) throw new Fault('invalid argument', call.at);
  if (given !== undefined && typeof given !== 'bigint') throw new Silent('cursors of events');
  const { time, isPast } = call.scope;
  const changes = target.changes().filter(({ ts }) => !isPast || ts <= time);
  return eventsPage(changes, size, given === undefined ? given : { side, at: Number(given) });
}

function join(call: Call): Value {
  const { join: source } = call.arguments({ join: set });
  if (source.flags.length === 0) throw new Silent('joins of joins by a lambda');
  const target = call.raw('with') as PartObject;
  const name = memberOf(target, 'index');
  if (name !== null) {
    const match = (terms: readonly Value[]) => call.model.documents.setOf(textIn(name), terms);
    return joined(source, match([]).flags, (tuple) => match(covered(tuple)));
  }
  return joined(source, [], (tuple) => {
    const found = call.apply('with', elementOf(tuple));
    if (found instanceof SetOf) return found;
    throw new Silent('joins with what is no set');
  });
}

export function filterSet(call: Call, collection: SetOf): SetOf {
  return filtered(collection, (tuple, time) => {
    const kept = call.seenAt(time).apply('filter', elementOf(tuple));
    if (typeof kept !== 'boolean') throw new Silent('filters of sets that are no Boolean');
    return kept;
  });
}

export const SET_FORMS: Readonly<Record<string, Form>> = {
  documents: (call) =>
    call.model.documents.documentsOf(
      textIn(memberOf(call.raw('documents') as PartObject, 'collection')),
    ),
  match: (call) => {
    const { terms = [] } = call.arguments({ terms: any }) as { terms?: Value };
    return call.model.documents.setOf(
      textIn(memberOf(call.raw('match') as PartObject, 'index')),
      asList(terms),
    );
  },
  union: algebra('union'),
  intersection: algebra('intersection'),
  difference: algebra('difference'),
  range: (call) => {
    const { range, from, to } = call.arguments({ range: set, from: any, to: any });
    return between(range, asList(from), asList(to));
  },
  join,
  distinct: (call) => {
    const found = call.iterable('distinct');
    if (found instanceof SetOf) return distinct(found);
    return found.filter((each, i) => !found.slice(0, i).some((other) => equal([other], [each])));
  },
  reverse: (call) => {
    const found = call.iterable('reverse');
    return found instanceof SetOf ? turned(found) : found.toReversed();
  },
  paginate,
};
