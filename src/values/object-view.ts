/** Documents, events and pages as plain objects, for order, storage and navigation. Spec: values 2 and 10. */
import {
  Action,
  Ref,
  isKinded,
  isObject,
  type Document,
  type Event,
  type ObjectValue,
  type Page,
  type Sourced,
  type Value,
} from './value.ts';
import { NATIVE } from './native-kinds.ts';

/** The ref of the collection that a document's ref is in. */
export const collectionRefOf = (ref: Ref): Ref =>
  new Ref(ref.database, NATIVE.collections, BigInt(ref.collection));

/** `ref`, `ts`, then the stored members: what is rendered and stored. */
export function documentMembers(document: Document): ObjectValue {
  const members = new Map<string, Value>([
    ['ref', document.ref],
    ['ts', document.ts],
  ]);
  for (const [key, value] of document.fields) members.set(key, value);
  return members;
}

export function eventMembers(event: Event): ObjectValue {
  const members = new Map<string, Value>([
    ['ts', event.ts],
    ['action', new Action(event.action)],
  ]);
  if (event.document) members.set('document', event.document);
  if (event.data !== undefined) members.set('data', event.data);
  return members;
}

export function pageMembers(page: Page): ObjectValue {
  const members = new Map<string, Value>();
  if (page.before !== undefined) members.set('before', page.before);
  if (page.after !== undefined) members.set('after', page.after);
  return members.set('data', page.data);
}

export const sourcedMembers = (sourced: Sourced): ObjectValue =>
  new Map<string, Value>([
    ['value', sourced.value],
    ['sources', sourced.sources],
  ]);

/** Values that are treated as objects but are not `Map`s. */
export type ObjectLike = Document | Event | Page | Sourced;

/** Object-like values as objects; all others unchanged. */
export function asObject<V extends Value>(value: V): ObjectValue | Exclude<V, ObjectLike> {
  if (isKinded(value)) {
    switch (value.kind) {
      case 'document':
        return documentMembers(value);
      case 'event':
        return eventMembers(value);
      case 'page':
        return pageMembers(value);
      case 'sourced':
        return sourcedMembers(value);
      default:
    }
  }
  // The switch has taken all of `ObjectLike`: of a type parameter nothing is known to be left out.
  return value as Exclude<V, ObjectLike>;
}

/** The members of objects and object-like values; undefined for all others. */
export function membersOf(value: Value): ObjectValue | undefined {
  const seen = asObject(value);
  return isObject(seen) ? seen : undefined;
}

/** As rendered, and `class` and `collection`: what a document is ordered by. */
export function documentForOrder(document: Document): ObjectValue {
  const collection = collectionRefOf(document.ref);
  return new Map(documentMembers(document)).set('class', collection).set('collection', collection);
}
