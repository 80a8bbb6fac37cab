/**
 * Follows paths into values, for `select`, `contains_*` and the fields of indexes. Spec: functions 1.1, "Select
 * navigation".
 */
import { parseJson } from '../codec/json.ts';
import { collectionRefOf, eventMembers } from '../values/object-view.ts';
import { setMembers } from '../values/sets.ts';
import { isArray, isInteger, isKinded, isObject } from '../values/value.ts';
import type { Document, Event, Kinded, Page, Ref, Value } from '../values/value.ts';
import { readRef } from './literal-refs.ts';
import type { LiteralSession } from './node.ts';
import type { ReadSession } from './session.ts';
import { nativeNumbers } from '../values/native-kinds.ts';
import { isNativeCollectionRef } from '../values/native-refs.ts';

export type PathStep = string | number | bigint;
/** Undefined if there is nothing at the path. */
export type Found = Value | undefined;

/** The value at `path`. A string step finds nothing in an array. */
export function valueAt(value: Value, path: readonly PathStep[], session: LiteralSession): Found {
  let found: Found = value;
  for (const step of path) {
    found = isArray(found) ? itemAt(found, step) : memberAt(found, step, session);
    if (found === undefined) return undefined;
  }
  return found;
}

/**
 * All values at `path`. Arrays on the way are traversed, and arrays at the end are flattened to any depth. Returns
 * undefined if nothing was found, which differs from an empty array.
 */
export function valuesAt(
  value: Value,
  path: readonly PathStep[],
  session: WalkSession,
): readonly Value[] | undefined {
  const walk = new Walk(path, session);
  return walk.take(value, 0) ? walk.values : undefined;
}

type WalkSession = LiteralSession & Pick<ReadSession, 'spend'>;

/** Units of work for an element on the path, and for an element at its end. */
const PASSED = 300;
const TAKEN = 100;

class Walk {
  readonly values: Value[] = [];
  private readonly path: readonly PathStep[];
  private readonly session: WalkSession;

  constructor(path: readonly PathStep[], session: WalkSession) {
    this.path = path;
    this.session = session;
  }

  /** Follows the steps from index `first` on. @returns whether anything was found */
  take(value: Value, first: number): boolean {
    let found = value;
    for (let at = first; at < this.path.length; at += 1) {
      const step = this.path[at] ?? '';
      if (isArray(found) && typeof step === 'string') return this.takeThrough(found, at);
      const next: Found = isArray(found)
        ? itemAt(found, step)
        : memberAt(found, step, this.session);
      if (next === undefined) return false;
      found = next;
    }
    this.takeFlat(found);
    return true;
  }

  private takeThrough(items: readonly Value[], at: number): boolean {
    this.session.spend(items.length * PASSED);
    let isThere = false;
    for (const item of items) if (this.take(item, at)) isThere = true;
    return isThere;
  }

  private takeFlat(value: Value): void {
    if (isArray(value)) {
      this.session.spend(value.length * TAKEN);
      for (const item of value) this.takeFlat(item);
    } else this.values.push(value);
  }
}

const itemAt = (items: readonly Value[], step: PathStep): Found =>
  isInteger(step) ? items[Number(step)] : undefined;

function memberAt(value: Value, step: PathStep, session: LiteralSession): Found {
  if (isObject(value)) return typeof step === 'string' ? value.get(step) : undefined;
  return isKinded(value) ? partAt(value, step, session) : undefined;
}

function partAt(value: Kinded, step: PathStep, session: LiteralSession): Found {
  if (value.kind === 'page') return ofPage(value, step);
  if (typeof step !== 'string') return undefined;
  switch (value.kind) {
    case 'document':
      return ofDocument(value, step);
    case 'ref':
      return ofRef(value, step, session);
    case 'event':
      return ofEvent(value, step);
    case 'set':
      return step === '@set' ? setMembers(value) : undefined;
    case 'sourced':
      return step === 'value' ? value.value : step === 'sources' ? value.sources : undefined;
    default:
      return undefined;
  }
}

function ofPage(page: Page, step: PathStep): Found {
  if (isInteger(step)) return itemAt(page.data, step);
  return step === 'data' || step === 'before' || step === 'after' ? page[step] : undefined;
}

function ofDocument(document: Document, step: string): Found {
  switch (step) {
    case 'ref':
      return document.ref;
    case 'ts':
      return document.ts;
    case 'class':
      return document.fields.get(step) ?? collectionRefOf(document.ref);
    default:
      return document.fields.get(step);
  }
}

const ofEvent = (event: Event, step: string): Found =>
  step === 'instance' || step === 'resource' ? event.document : eventMembers(event).get(step);

const NAMED = nativeNumbers((kind) => kind.isNamed);
/** Whether the ref is that of a schema object or native collection, which has a name in place of an id. */
const isNamed = (ref: Ref): boolean => NAMED.has(ref.collection);

/** The id as it is rendered: digits, or the name of a schema object. */
export const idOf = (ref: Ref, session: LiteralSession): Found =>
  isNamed(ref) ? wireMember(ref, 'id', session) : String(ref.id);

function ofRef(ref: Ref, step: string, session: LiteralSession): Found {
  switch (step) {
    case 'id':
      return idOf(ref, session);
    case 'database':
      return databaseOf(ref, session);
    default:
      return lastingPartOf(ref, step);
  }
}

/** The parts of a ref that no renaming of schema objects or databases changes: its collection, and the id of a document. */
export function lastingPartOf(ref: Ref, step: string): Found {
  switch (step) {
    case 'id':
      return isNamed(ref) ? undefined : String(ref.id);
    case 'collection':
    case 'class':
      return isNativeCollectionRef(ref) ? undefined : collectionRefOf(ref);
    default:
      return undefined;
  }
}

/** The ref of the database that the ref belongs to. Undefined if that is the query's own database. */
export function databaseOf(ref: Ref, session: LiteralSession): Found {
  const outer = isNamed(ref) ? ref : collectionRefOf(ref);
  const database = wireMember(outer, 'database', session);
  const inside = database !== undefined && isObject(database) ? database.get('@ref') : undefined;
  return inside === undefined
    ? undefined
    : readRef(inside as Parameters<typeof readRef>[0], undefined).resolve(session);
}

function wireMember(ref: Ref, key: string, session: LiteralSession): Found {
  const wire = session.names.refToWire(ref);
  const json = wire === undefined ? null : parseJson(wire);
  return isObject(json) ? json.get(key) : undefined;
}
