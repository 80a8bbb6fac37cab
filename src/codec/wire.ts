/**
 * Values as the wire JSON of an API version. This is the hot path of every read, so text is made by concatenation.
 * Spec: values 1 to 7.
 */
import { isStackExhausted, Refusal, unreachable } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { collectionRefOf } from '../values/object-view.ts';
import { nativeRef, setMembers } from '../values/sets.ts';
import { formatDate, formatTime } from '../values/time.ts';
import {
  isArray,
  isKinded,
  type ActionName,
  type Document,
  type Event,
  type Kinded,
  type Lambda,
  type Micros,
  type ObjectValue,
  type Page,
  type Ref,
  type SetValue,
  type Sourced,
  type Value,
} from '../values/value.ts';
import { encodeBase64 } from './base64.ts';
import { flat, PIECE_CHARS } from './flat.ts';
import { quote } from './json.ts';
import { doubleText } from './number-text.ts';

export interface RenderContext {
  readonly names: {
    /** Returns the content of `{"@ref":…}`, or undefined if the referenced object no longer exists. */
    refToWire(ref: Ref): string | undefined;
  };
  readonly apiVersion: string;
  /** The commit time of the query, for pending times. */
  readonly pendingTs: Micros;
  /** Called now and then with the number of characters rendered since the last call. May throw to stop rendering. */
  readonly report?: (chars: number) => void;
}

/**
 * Wire text of a value. A value that renders as nothing gives `null`.
 * @throws Refusal `bad request` for a value nested deeper than `LIMITS.renderDepth`, `limit_exceeded` for a text longer
 * than `LIMITS.answerChars`
 */
export function renderValue(value: Value, context: RenderContext): string {
  try {
    return render(value, context, 0) ?? 'null';
  } catch (thrown) {
    // A lambda renders its captured values by a nested `renderValue`, which counts depth from 0 again. So the stack can
    // overflow before the limit is reached.
    if (isStackExhausted(thrown)) return refuseDepth();
    throw thrown;
  }
}

/** Returns undefined for a value that is left out of its object or array. */
function render(value: Value, context: RenderContext, depth: number): string | undefined {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'number':
      return Number.isInteger(value) ? String(value) : wireDouble(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      if (value === null) return 'null';
      if (isArray(value)) return renderArray(value, context, deeper(depth));
      return isKinded(value)
        ? renderKinded(value, context, deeper(depth))
        : renderObject(value, context, deeper(depth));
  }
}

function deeper(depth: number): number {
  if (depth < LIMITS.renderDepth) return depth + 1;
  return refuseDepth();
}

function refuseDepth(): never {
  throw new Refusal(
    'bad request',
    `The result is nested deeper than ${LIMITS.renderDepth} levels.`,
  );
}

function refuseLength(): never {
  const description = `The result is longer than ${LIMITS.answerChars} characters.`;
  throw new Refusal('limit_exceeded', description);
}

/** NaN and the infinities are not JSON numbers, so they become strings. */
const wireDouble = (value: number): string =>
  Number.isFinite(value) ? doubleText(value) : `"${value}"`;

function renderArray(items: readonly Value[], context: RenderContext, depth: number): string {
  let whole = '';
  let text = '';
  for (const item of items) {
    const rendered = render(item, context, depth);
    if (rendered === undefined) continue;
    text += text === '' && whole === '' ? rendered : `,${rendered}`;
    if (whole.length + text.length > LIMITS.answerChars) refuseLength();
    if (text.length < PIECE_CHARS) continue;
    context.report?.(text.length);
    whole += flat(text);
    text = '';
  }
  return `[${whole}${text}]`;
}

/**
 * Whether the object has a key that starts with `@`. It would be read as an escape, so the object is wrapped in
 * `{"@obj":…}`.
 */
export function isEscaped(object: ObjectValue): boolean {
  for (const key of object.keys()) if (key.charCodeAt(0) === 0x40) return true;
  return false;
}

function renderObject(object: ObjectValue, context: RenderContext, depth: number): string {
  const text = `{${renderMembers(object, context, depth)}}`;
  return isEscaped(object) ? `{"@obj":${text}}` : text;
}

function renderMembers(object: ObjectValue, context: RenderContext, depth: number): string {
  let whole = '';
  let text = '';
  for (const [key, value] of object) {
    const rendered = render(value, context, depth);
    if (rendered === undefined) continue;
    text +=
      text === '' && whole === '' ? `${quote(key)}:${rendered}` : `,${quote(key)}:${rendered}`;
    if (whole.length + text.length > LIMITS.answerChars) refuseLength();
    if (text.length < PIECE_CHARS) continue;
    context.report?.(text.length);
    whole += flat(text);
    text = '';
  }
  return whole + text;
}

type Scalar = Extract<Kinded, { readonly kind: 'bytes' | 'time' | 'date' | 'uuid' }>;

/** Text that is the same on the wire and in a row. */
export function scalarText(value: Scalar): string {
  switch (value.kind) {
    case 'bytes':
      return `{"@bytes":"${encodeBase64(value.bytes)}"}`;
    case 'time':
      return `{"@ts":"${formatTime(value)}"}`;
    case 'date':
      return `{"@date":"${formatDate(value)}"}`;
    case 'uuid':
      return `{"@uuid":${quote(value.text)}}`;
    default:
      return unreachable(value);
  }
}

function renderKinded(value: Kinded, context: RenderContext, depth: number): string | undefined {
  switch (value.kind) {
    case 'double':
      return wireDouble(value.value);
    case 'bytes':
    case 'time':
    case 'date':
    case 'uuid':
      return scalarText(value);
    case 'ref':
      return renderRef(value, context);
    case 'unresolved':
      return `{"@ref":${value.wire}}`;
    case 'set':
      return renderSetOrRef(value, context, depth);
    case 'lambda':
      return `{"@query":{${lambdaMembers(value, context)}}}`;
    case 'page':
      return renderPage(value, context, depth);
    case 'document':
      return renderDocument(value, context, depth);
    case 'event':
      return renderEvent(value, context, depth);
    case 'action':
      return `"${actionName(value.name, context)}"`;
    case 'sourced':
      return renderSourced(value, context, depth);
    case 'pending':
      return String(context.pendingTs);
    default:
      return unreachable(value);
  }
}

function renderRef(ref: Ref, context: RenderContext): string | undefined {
  const inside = context.names.refToWire(ref);
  return inside === undefined ? undefined : `{"@ref":${inside}}`;
}

const member = (name: string, rendered: string | undefined): string =>
  rendered === undefined ? '' : `,"${name}":${rendered}`;

function renderDocument(document: Document, context: RenderContext, depth: number): string {
  const { ref, ts, text } = document;
  // Members are appended with their commas, and none is cut off at the end: slicing a concatenated text would flatten
  // all of it.
  const inside = context.names.refToWire(ref);
  let before = inside === undefined ? '{' : `{"ref":{"@ref":${inside}},`;
  if (context.apiVersion === '2.0') {
    const collection = renderRef(collectionRefOf(ref), context);
    if (collection !== undefined) before += `"class":${collection},`;
  }
  const time = typeof ts === 'number' ? ts : context.pendingTs;
  const fields = text ?? renderMembers(document.fields, context, depth);
  return fields === '' ? `${before}"ts":${time}}` : `${before}"ts":${time},${fields}}`;
}

function renderPage(page: Page, context: RenderContext, depth: number): string {
  let members = '';
  if (page.before !== undefined)
    members += `"before":${render(page.before, context, depth) ?? 'null'},`;
  if (page.after !== undefined)
    members += `"after":${render(page.after, context, depth) ?? 'null'},`;
  return `{${members}"data":${renderArray(page.data, context, depth)}}`;
}

/** Names of the members of an event in old API versions. Spec: values 1. */
const EVENT_NAMES = new Map<string, readonly [document: string, values: string]>([
  ['2.0', ['resource', 'values']],
  ['2.1', ['instance', 'data']],
]);

function renderEvent(event: Event, context: RenderContext, depth: number): string {
  const [documentName, valuesName] = EVENT_NAMES.get(context.apiVersion) ?? ['document', 'data'];
  let members = `"ts":${event.ts},"action":"${actionName(event.action, context)}"`;
  if (event.document) members += member(documentName, renderRef(event.document, context));
  if (event.data !== undefined) {
    const name = isArray(event.data) ? valuesName : 'data';
    members += member(name, render(event.data, context, depth));
  }
  return `{${members}}`;
}

const FIRST_ACTIONS = {
  create: 'create',
  update: 'create',
  add: 'create',
  delete: 'delete',
  remove: 'delete',
} as const satisfies Record<ActionName, ActionName>;

const actionName = (name: ActionName, context: RenderContext): ActionName =>
  context.apiVersion === '2.0' ? FIRST_ACTIONS[name] : name;

const renderSourced = (sourced: Sourced, context: RenderContext, depth: number): string =>
  `{"value":${render(sourced.value, context, depth) ?? 'null'},"sources":${renderArray(sourced.sources, context, depth)}}`;

/** API versions whose lambdas need no version tag. */
const UNTAGGED = new Set(['2.0', '2.1', '2.7', '2.12']);

const lambdaMembers = (lambda: Lambda, context: RenderContext): string =>
  UNTAGGED.has(lambda.apiVersion) && UNTAGGED.has(context.apiVersion)
    ? lambda.wire
    : `"api_version":"${lambda.apiVersion}",${lambda.wire}`;

function renderSetOrRef(set: SetValue, context: RenderContext, depth: number): string | undefined {
  const native = nativeRef(set);
  return native ? renderRef(native, context) : `{"@set":{${renderSet(set, context, depth)}}}`;
}

/** The content of `{"@set":{…}}`. Lambdas are written without `@query` there, and the set under `events` without `@set`. */
function renderSet(set: SetValue, context: RenderContext, depth: number): string {
  if (set.op === 'events' && set.of.kind === 'set' && !nativeRef(set.of)) {
    return `"events":{${renderSet(set.of, context, deeper(depth))}}`;
  }
  let members = '';
  for (const [name, value] of setMembers(set)) {
    const isBare = isKinded(value) && value.kind === 'lambda' && name !== 'terms';
    members += member(
      name,
      isBare ? `{${lambdaMembers(value, context)}}` : render(value, context, depth),
    );
  }
  return members.slice(1);
}
