/** Computes the values that a term or value of an index takes from a document. Spec: sets 2.2. */
import { casefold } from '../../query/functions/casefold.ts';
import { lastingPartOf } from '../../query/navigate.ts';
import { QueryFailure } from '../../errors.ts';
import { collectionRefOf } from '../../values/object-view.ts';
import { isArray, isKind, isKinded, isObject } from '../../values/value.ts';
import type { Document, Lambda, Micros, ObjectValue, Ref, Value } from '../../values/value.ts';
import type { IndexField, IndexSource } from '../catalog/definitions.ts';

/** The parts of a version that can be indexed. */
export interface IndexedVersion {
  readonly ts: Micros;
  readonly ttl: Micros | undefined;
  /** The stored fields: `data`, `ttl`, … */
  readonly fields: ObjectValue;
}

/** Applies the lambda of a binding. It is pure, and every failure of it is a `QueryFailure`. */
export type ApplyBinding = (lambda: Lambda, document: Document) => Value;

/**
 * The elements of a field; `[null]` when there are none.
 * @param ts the value of the path `ts`. Null for terms, because the commit time is not known while terms are computed
 */
export function fieldElements(
  field: IndexField,
  source: Pick<IndexSource, 'bindings'>,
  ref: Ref,
  version: IndexedVersion,
  ts: Micros | null,
  apply: ApplyBinding,
): readonly Value[] {
  const found =
    field.binding === undefined
      ? elementsAt(field, ref, version, ts)
      : boundElements(source.bindings.get(field.binding), ref, version, apply);
  if (found.length === 0) return [null];
  return field.transform === 'casefold' ? found.map(fold) : found;
}

/**
 * The only element of a plain field. Undefined if the field has a binding or a transform, or if its value is an array; `fieldElements`
 * handles these.
 */
export function loneElement(
  { path = [], binding, transform, mva }: IndexField,
  ref: Ref,
  version: IndexedVersion,
  ts: Micros | null,
): Value | undefined {
  if (binding !== undefined || transform !== undefined) return undefined;
  let value = startOf(path, ref, version, ts);
  for (let at = 1; at < path.length && value !== undefined && !isArray(value); at += 1)
    value = stepInto(value, path[at] ?? '');
  if (value === undefined) return null;
  if (isArray(value)) return undefined;
  return mva ? asScalar(value) : value;
}

/** The value at the first step of a path. */
function startOf(
  path: readonly (string | number)[],
  ref: Ref,
  { fields }: IndexedVersion,
  ts: Micros | null,
): Value | undefined {
  const first = path[0] ?? '';
  switch (first) {
    case 'ref':
      return ref;
    case 'ts':
      return ts;
    case 'class':
      return collectionRefOf(ref);
    default:
      return fields.get(String(first));
  }
}

const fold = (value: Value): Value => (typeof value === 'string' ? casefold(value) : value);

function elementsAt(
  { path = [], mva }: IndexField,
  ref: Ref,
  version: IndexedVersion,
  ts: Micros | null,
): readonly Value[] {
  const start = startOf(path, ref, version, ts);
  if (start === undefined) return [];
  if (!mva) return [valueAt(start, path) ?? null];
  const elements: Value[] = [];
  spread(start, path, 1, elements);
  return elements;
}

/** Follows a path from the value of its first step, without iterating over arrays. */
function valueAt(start: Value, path: readonly (string | number)[]): Value | undefined {
  let value: Value | undefined = start;
  for (let at = 1; at < path.length && value !== undefined; at += 1)
    value = stepInto(value, path[at] ?? '');
  return value;
}

function stepInto(value: Value, step: string | number): Value | undefined {
  if (isArray(value)) return typeof step === 'number' ? value[step] : undefined;
  if (typeof step !== 'string') return undefined;
  if (isObject(value)) return value.get(step);
  return isKind(value, 'ref') ? lastingPartOf(value, step) : undefined;
}

function spread(
  value: Value,
  path: readonly (string | number)[],
  at: number,
  elements: Value[],
): void {
  const step = path[at];
  if (isArray(value) && typeof step !== 'number') {
    for (const item of value) spread(item, path, at, elements);
  } else if (step === undefined) elements.push(asScalar(value));
  else {
    const next = stepInto(value, step);
    if (next !== undefined) spread(next, path, at + 1, elements);
  }
}

function boundElements(
  lambda: Lambda | undefined,
  ref: Ref,
  { ts, fields }: IndexedVersion,
  apply: ApplyBinding,
): readonly Value[] {
  if (!lambda) return [];
  try {
    const document: Document = {
      kind: 'document',
      ref,
      ts,
      created: false,
      fields,
      text: undefined,
    };
    const result = apply(lambda, document);
    if (isArray(result)) return result.map(asScalar);
    return isScalar(result) ? [result] : [];
  } catch (failure) {
    // If the binding fails for a document, the document has no value there, but can still be written.
    if (failure instanceof QueryFailure) return [];
    throw failure;
  }
}

const asScalar = (value: Value): Value => (isScalar(value) ? value : null);

const SCALAR_KINDS = ['double', 'bytes', 'time', 'date', 'uuid', 'ref'] as const;

function isScalar(value: Value): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return isKinded(value) && SCALAR_KINDS.some((kind) => isKind(value, kind));
}
