/**
 * The weight of a value: its approximate bytes in memory if nothing in it were shared. A value that contains another
 * twice counts it twice, because comparing, rendering and storing visit it twice.
 */
import { unreachable } from '../errors.ts';
import { partOf, partsOfOp } from './sets.ts';
import {
  isArray,
  isObject,
  type Document,
  type Kinded,
  type Lambda,
  type ObjectValue,
  type SetValue,
  type Value,
} from './value.ts';

const SLOT = 8;
const MEMBER = 48;
const CONTAINER = 48;
/** A box, or a ref. */
const SMALL = 64;
/** Query path, cursor and ordered bytes behind an element of a page. */
const PAGE_ELEMENT = 256;

/** Bytes of a text, as long as all of it is Latin. */
export const textWeight = (chars: number): number => SMALL + chars;

/** Bytes of an array, without what is in it. */
export const arrayWeight = (length: number): number => CONTAINER + length * SLOT;

/** Bytes of an object, without what is in it. */
export const objectWeight = (size: number): number => CONTAINER + size * MEMBER;

/**
 * Lighter values are not cached: weighing them again is cheap, for all that is in them adds to their weight. Most documents are.
 */
const CACHED_FROM = 2048;

/** Cached weights, for one query only: the garbage collector visits every entry again and again. */
export type Weights = WeakMap<object, number>;

export function weightOf(value: Value, known: Weights): number {
  switch (typeof value) {
    case 'string':
      return textWeight(value.length);
    case 'object':
      return value === null ? 0 : weightOfHeld(value, known);
    case 'bigint':
      return SMALL;
    default:
      return 0;
  }
}

type Held = Extract<Value, object>;

function weightOfHeld(value: Held, known: Weights): number {
  if (isArray(value)) return value.length === 0 ? CONTAINER : weightOfArray(value, known);
  if (isObject(value)) return value.size === 0 ? CONTAINER : weightOfObject(value, known);
  return weightOfKinded(value, known);
}

function kept(value: object, weight: number, known: Weights): number {
  if (weight >= CACHED_FROM) known.set(value, weight);
  return weight;
}

function weightOfArray(items: readonly Value[], known: Weights): number {
  const found = known.get(items);
  if (found !== undefined) return found;
  let weight = arrayWeight(items.length);
  for (const item of items) weight += weightOf(item, known);
  return kept(items, weight, known);
}

function weightOfObject(object: ObjectValue, known: Weights): number {
  const found = known.get(object);
  if (found !== undefined) return found;
  let weight = objectWeight(object.size);
  for (const [key, member] of object) weight += key.length + weightOf(member, known);
  return kept(object, weight, known);
}

function weightOfKinded(value: Kinded, known: Weights): number {
  switch (value.kind) {
    case 'double':
    case 'time':
    case 'date':
    case 'uuid':
    case 'ref':
    case 'action':
    case 'pending':
      return SMALL;
    case 'bytes':
      return SMALL + value.bytes.length;
    case 'unresolved':
      return textWeight(value.name.length + value.wire.length);
    // What it holds keeps its own weight.
    case 'document':
      return SMALL + weightOfDocument(value, known);
    default:
      return known.get(value) ?? kept(value, weightOfParts(value, known), known);
  }
}

type Composed = Extract<Kinded, { kind: 'set' | 'lambda' | 'page' | 'event' | 'sourced' }>;

function weightOfParts(value: Composed, known: Weights): number {
  switch (value.kind) {
    case 'set':
      return SMALL + weightOfSet(value, known);
    case 'lambda':
      return SMALL + weightOfLambda(value, known);
    case 'page': {
      const { before = null, after = null, data } = value;
      return (
        weightOf(before, known) +
        weightOf(after, known) +
        weightOf(data, known) +
        data.length * PAGE_ELEMENT
      );
    }
    case 'event':
      return SMALL * 2 + weightOf(value.data ?? null, known);
    case 'sourced':
      return SMALL + weightOf(value.value, known) + weightOf(value.sources, known);
    default:
      return unreachable(value);
  }
}

/** A document that has not been parsed is not parsed for this. */
function weightOfDocument(document: Document, known: Weights): number {
  const { text } = document;
  return text === undefined ? weightOf(document.fields, known) : text.length;
}

/** Its text contains its captures. */
const weightOfLambda = ({ captures }: Lambda, known: Weights): number => weightOf(captures, known);

function weightOfSet(set: SetValue, known: Weights): number {
  let weight = 0;
  for (const [name] of partsOfOp(set.op)) weight += weightOf(partOf(set, name), known);
  return weight;
}
