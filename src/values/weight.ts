/**
 * The weight of a value: its approximate size in bytes in memory if it shared nothing. A value that occurs twice in another one counts
 * twice, because comparing, rendering and storing visit it twice.
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
/** A boxed scalar, or a ref. */
const SMALL = 64;
/** Query path, cursor and ordered bytes that are kept for an element of a page. */
const PAGE_ELEMENT = 256;

/** Bytes of a text, assuming that all its characters are Latin-1. */
export const textWeight = (chars: number): number => SMALL + chars;

/** Bytes of an array without its elements. */
export const arrayWeight = (length: number): number => CONTAINER + length * SLOT;

/** Bytes of an object without its keys and values. */
export const objectWeight = (size: number): number => CONTAINER + size * MEMBER;

/** Lighter values, such as most documents, are not cached: they have few parts, since each part adds weight, so weighing again is cheap. */
const CACHED_FROM = 2048;

/** Cached weights. Used for one query only, because the garbage collector has to visit every entry in each of its runs. */
export interface Weights {
  readonly known: WeakMap<object, number>;
  /** Units of work spent on weighing. */
  work: number;
}

const ELEMENT_WORK = 4;
const MEMBER_WORK = 10;

export function weightOf(value: Value, weights: Weights): number {
  switch (typeof value) {
    case 'string':
      return textWeight(value.length);
    case 'object':
      return value === null ? 0 : weightOfHeld(value, weights);
    case 'bigint':
      return SMALL;
    default:
      return 0;
  }
}

type Held = Extract<Value, object>;

function weightOfHeld(value: Held, weights: Weights): number {
  if (isArray(value)) return value.length === 0 ? CONTAINER : weightOfArray(value, weights);
  if (isObject(value)) return value.size === 0 ? CONTAINER : weightOfObject(value, weights);
  return weightOfKinded(value, weights);
}

function kept(value: object, weight: number, { known }: Weights): number {
  if (weight >= CACHED_FROM) known.set(value, weight);
  return weight;
}

function weightOfArray(items: readonly Value[], weights: Weights): number {
  const found = weights.known.get(items);
  if (found !== undefined) return found;
  let weight = arrayWeight(items.length);
  weights.work += items.length * ELEMENT_WORK;
  for (const item of items) weight += weightOf(item, weights);
  return kept(items, weight, weights);
}

function weightOfObject(object: ObjectValue, weights: Weights): number {
  const found = weights.known.get(object);
  if (found !== undefined) return found;
  let weight = objectWeight(object.size);
  weights.work += (object.size + 2) * MEMBER_WORK;
  for (const [key, member] of object) weight += key.length + weightOf(member, weights);
  return kept(object, weight, weights);
}

function weightOfKinded(value: Kinded, weights: Weights): number {
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
    // Not cached here: the weight of its `fields` is.
    case 'document':
      return SMALL + weightOfDocument(value, weights);
    default:
      return weights.known.get(value) ?? kept(value, weightOfParts(value, weights), weights);
  }
}

type Composed = Extract<Kinded, { kind: 'set' | 'lambda' | 'page' | 'event' | 'sourced' }>;

function weightOfParts(value: Composed, weights: Weights): number {
  switch (value.kind) {
    case 'set':
      return SMALL + weightOfSet(value, weights);
    case 'lambda':
      return SMALL + weightOfLambda(value, weights);
    case 'page': {
      const { before = null, after = null, data } = value;
      return (
        weightOf(before, weights) +
        weightOf(after, weights) +
        weightOf(data, weights) +
        data.length * PAGE_ELEMENT
      );
    }
    case 'event':
      return SMALL * 2 + weightOf(value.data ?? null, weights);
    case 'sourced':
      return SMALL + weightOf(value.value, weights) + weightOf(value.sources, weights);
    default:
      return unreachable(value);
  }
}

/** A document that has not been parsed yet is weighed by its text, so that weighing does not parse it. */
function weightOfDocument(document: Document, weights: Weights): number {
  const { text } = document;
  return text === undefined ? weightOf(document.fields, weights) : text.length;
}

/** A lambda is weighed by its captured values, which its text contains. */
const weightOfLambda = ({ captures }: Lambda, weights: Weights): number =>
  weightOf(captures, weights);

function weightOfSet(set: SetValue, weights: Weights): number {
  let weight = 0;
  for (const [name] of partsOfOp(set.op)) weight += weightOf(partOf(set, name), weights);
  return weight;
}
