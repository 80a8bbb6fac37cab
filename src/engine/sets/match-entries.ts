/** Keys and tuples of the index entries with exactly the given terms. Spec: sets 3, 4. */
import {
  after,
  decodeEntryBelow,
  refBytes,
  termsPrefix,
  valuesPrefix,
  type Key,
  refPrefix,
} from '../../codec/key.ts';
import { encodeValue } from '../../codec/ordered.ts';
import { Refusal } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import { changedArray } from '../../values/object-changes.ts';
import { isArray, isKind, PENDING } from '../../values/value.ts';
import type { CollectionId, Micros, Ref, SetOf, Value } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import type { IndexDefinition } from '../catalog/definitions.ts';
import { parseStoredLambda } from '../catalog/stored-lambdas.ts';
import { minimumValidTime } from '../documents/documents.ts';
import { isOver } from '../documents/retained.ts';
import { RefTuple, type Bound, type Tuple } from './tuple.ts';

/** Keys and tuples of one `match`. */
export class MatchEntries {
  readonly prefix: Key;
  private readonly context: EngineContext;
  private readonly index: IndexDefinition;
  private readonly sources: readonly Value[];
  /** Whether each collection still exists. Undefined if the index has one collection only, which exists as long as the index does. */
  private readonly living: Map<CollectionId, boolean> | undefined;
  private readonly isExpired = (ttl: Micros | undefined): boolean =>
    isOver(ttl, this.context.snapshot);

  constructor(
    context: EngineContext,
    index: IndexDefinition,
    set: SetOf<'match'>,
    withSources: boolean,
  ) {
    this.context = context;
    this.index = index;
    const terms = set.terms.map((term) => refuseLarge(asStored(context, term)));
    this.prefix = termsPrefix(index.ref.database, index.id, terms);
    this.sources = withSources ? [set] : [];
    this.living = hasOneCollection(index) ? undefined : new Map();
  }

  /** Undefined when the document has expired or its collection was deleted. */
  tupleOf(key: Key): Tuple | undefined {
    return this.decoded(key, this.isExpired);
  }

  /**
   * The tuple of an entry that was added at a time. Expiry is not an event, so expired entries are included, unless addition and expiry are
   * both before the retained time.
   */
  tupleAddedAt(added: Micros, key: Key): Tuple | undefined {
    return this.decoded(key, (ttl, ref) => {
      const minimum = ttl === undefined ? 0 : this.minimumOf(ref);
      return added < minimum && isOver(ttl, minimum);
    });
  }

  private decoded(
    key: Key,
    isGone: (ttl: Micros | undefined, ref: Ref) => boolean,
  ): Tuple | undefined {
    const { prefix, sources } = this;
    const { reverse } = this.index;
    const { database } = this.index.ref;
    const found = decodeEntryBelow(prefix, database, key, reverse, parseStoredLambda);
    const { values, ref, ttl, refAt } = found;
    if (isGone(ttl, ref)) return undefined;
    if (this.living && !this.isLiving(ref)) return undefined;
    if (values.length === 0) return new RefTuple(ref, sources);
    const group = key.slice(prefix.length, refAt);
    return { values, ref, group, tiebreaker: key.slice(refAt), reversed: false, sources };
  }

  /** The first key of the index that is not before the bound. */
  keyOf(bound: Bound): Key {
    const { values, reverse } = this.index;
    if (values.length === 0)
      return keyAmongRefs(bound, (ref) => refPrefix(this.prefix, ref), this.prefix);
    const given = bound.values.slice(0, values.length).map((each) => asStored(this.context, each));
    const prefix = valuesPrefix(this.prefix, given, reverse);
    // The bound has more values than tuples of this set. Tuples that equal its first values are before it.
    if (given.length < bound.values.length) return after(prefix);
    if (!bound.ref) return bound.side === 'low' ? prefix : after(prefix);
    // Tuples of this set have more values than the bound. All that start with its values are after it.
    if (given.length < values.length) return prefix;
    const exact = refPrefix(prefix, bound.ref, bound.tiebreakerRest);
    return bound.side === 'low' ? exact : after(exact);
  }

  private minimumOf({ database, collection }: Ref): Micros {
    const definition = this.context.schema(database).collection(collection);
    return definition ? minimumValidTime(definition, this.context.snapshot) : 0;
  }

  private isLiving({ database, collection }: Ref): boolean {
    let known = this.living?.get(collection);
    if (known === undefined) {
      known = this.context.schema(database).collection(collection) !== undefined;
      this.living?.set(collection, known);
    }
    return known;
  }
}

/** Entries of what this query writes hold its commit time as a number. */
export function asStored(context: Pick<EngineContext, 'commitTs' | 'inputs'>, value: Value): Value {
  if (value === PENDING) return (context.inputs.lookedUp.commitTs = context.commitTs);
  return isArray(value) ? changedArray(value, (each) => asStored(context, each)) : value;
}

/**
 * The first key that is not before the bound, in sets whose only value is the ref.
 * @param keyOfRef returns the prefix of all keys of a document
 */
export function keyAmongRefs(bound: Bound, keyOfRef: (ref: Ref) => Key, prefix: Key): Key {
  const [value, ...more] = bound.values;
  if (value === undefined) return bound.side === 'low' ? prefix : after(prefix);
  if (!isKind(value, 'ref')) return encodeValue(value) < REFS ? prefix : after(prefix);
  const key = keyOfRef(value);
  if (more.length > 0) return after(key);
  if (!bound.ref) return bound.side === 'low' ? key : after(key);
  const own = refBytes(value);
  const other = refBytes(bound.ref);
  if (own === other) return bound.side === 'low' ? key : after(key);
  return own < other ? after(key) : key;
}

/** Greater than the encoding of all values that sort before refs, less than that of all that sort after them. */
const REFS = '\x38';

const hasOneCollection = ({ sources }: IndexDefinition): boolean => {
  const [first] = sources;
  return sources.length === 1 && first?.collections !== 'all' && first?.collections.size === 1;
};

function refuseLarge(term: Value): Value {
  if (encodeValue(term).length > LIMITS.indexComponentBytes) {
    throw new Refusal(
      'bad request',
      `A term of a match exceeds ${LIMITS.indexComponentBytes} bytes.`,
    );
  }
  return term;
}
