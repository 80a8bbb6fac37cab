/** Converts documents, events and pages to plain objects, for ordering, storage and navigation. Spec: values 2 and 10. */
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

/** `ref`, `ts`, then the stored members: the object that is rendered and stored. */
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

/** Values that are treated as objects but are not of the type `Map`. */
export type ObjectLike = Document | Event | Page | Sourced;

/** Converts object-like values to objects; returns all others unchanged. */
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
  // The switch has handled all of `ObjectLike`, but TypeScript does not narrow a type parameter.
  return value as Exclude<V, ObjectLike>;
}

/** The members of an object or object-like value. Undefined for all other values. */
export function membersOf(value: Value): ObjectValue | undefined {
  const seen = asObject(value);
  return isObject(seen) ? seen : undefined;
}

/** The object by which a document is ordered: its rendered members, `class` and `collection`. */
export function documentForOrder(document: Document): ObjectValue {
  const collection = collectionRefOf(document.ref);
  return new Map(documentMembers(document)).set('class', collection).set('collection', collection);
}
