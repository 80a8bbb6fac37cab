/** Values as the wire JSON of an API version. Spec: values 1 to 7. */
import { isStackExhausted, Refusal, unreachable } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { collectionRefOf, type ObjectLike } from '../values/object-view.ts';
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
import { TextBuilder, type TextLimit } from './text-builder.ts';
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
  const out = new TextBuilder(ANSWER_TEXT, context.report);
  try {
    return render(value, { context, out }, 0, '') ? out.finish() : 'null';
  } catch (thrown) {
    // A lambda renders its captured values by a nested `renderValue`, which counts depth from 0 again. So the stack can
    // overflow before the limit is reached.
    if (isStackExhausted(thrown)) return refuseDepth();
    throw thrown;
  }
}

interface Rendering {
  readonly context: RenderContext;
  readonly out: TextBuilder;
}

/**
 * Adds `before` and the value. Adds nothing and returns false for a value that is left out of its object or array.
 * @param before what stands between the value and the text so far: a comma, a name
 */
function render(value: Value, rendering: Rendering, depth: number, before: string): boolean {
  if (typeof value === 'string') rendering.out.add(before + quote(value));
  else if (typeof value !== 'object' || value === null)
    rendering.out.add(before + wirePlain(value));
  else if (isArray(value)) renderArray(value, rendering, deeper(depth), before);
  else if (isKinded(value)) return renderKinded(value, rendering, deeper(depth), before);
  else renderObject(value, rendering, deeper(depth), before);
  return true;
}

const wirePlain = (value: number | bigint | boolean | null): string =>
  typeof value === 'number' && !Number.isInteger(value) ? wireDouble(value) : String(value);

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

const ANSWER_TEXT: TextLimit = {
  chars: LIMITS.answerChars,
  refuse: () => {
    const description = `The result is longer than ${LIMITS.answerChars} characters.`;
    throw new Refusal('limit_exceeded', description);
  },
};

/** NaN and the infinities are not JSON numbers, so they become strings. */
const wireDouble = (value: number): string =>
  Number.isFinite(value) ? doubleText(value) : `"${value}"`;

function renderArray(
  items: readonly Value[],
  rendering: Rendering,
  depth: number,
  before: string,
): void {
  let start = `${before}[`;
  for (const item of items) if (render(item, rendering, depth, start)) start = ',';
  rendering.out.add(start === ',' ? ']' : `${start}]`);
}

/**
 * Whether the object has a key that starts with `@`. It would be read as an escape, so the object is wrapped in
 * `{"@obj":…}`.
 */
export function isEscaped(object: ObjectValue): boolean {
  for (const key of object.keys()) if (key.charCodeAt(0) === 0x40) return true;
  return false;
}

function renderObject(
  object: ObjectValue,
  rendering: Rendering,
  depth: number,
  before: string,
): void {
  const start = isEscaped(object) ? `${before}{"@obj":{` : `${before}{`;
  const end = isEscaped(object) ? '}}' : '}';
  const hasMembers = renderMembers(object, rendering, depth, start);
  rendering.out.add(hasMembers ? end : start + end);
}

/** Adds `before`, then the members of the object. Adds nothing and returns false if there are none. */
function renderMembers(
  object: ObjectValue,
  rendering: Rendering,
  depth: number,
  before: string,
): boolean {
  let start = before;
  let hasMembers = false;
  for (const [key, value] of object) {
    if (!render(value, rendering, depth, `${start}${quote(key)}:`)) continue;
    start = ',';
    hasMembers = true;
  }
  return hasMembers;
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

function renderKinded(value: Kinded, rendering: Rendering, depth: number, before: string): boolean {
  if (value.kind === 'ref') return renderRef(value, rendering, before);
  if (value.kind === 'set') return renderSetOrRef(value, rendering, depth, before);
  renderShown(value, rendering, depth, before);
  return true;
}

/** Adds a value that is never left out. */
function renderShown(
  value: Exclude<Kinded, Ref | SetValue>,
  rendering: Rendering,
  depth: number,
  before: string,
): void {
  switch (value.kind) {
    case 'page':
      return renderPage(value, rendering, depth, before);
    case 'document':
      return renderDocument(value, rendering, depth, before);
    case 'event':
      return renderEvent(value, rendering, depth, before);
    case 'sourced':
      return renderSourced(value, rendering, depth, before);
    default:
      return rendering.out.add(before + wireText(value, rendering.context));
  }
}

function wireText(
  value: Exclude<Kinded, ObjectLike | Ref | SetValue>,
  context: RenderContext,
): string {
  switch (value.kind) {
    case 'double':
      return wireDouble(value.value);
    case 'bytes':
    case 'time':
    case 'date':
    case 'uuid':
      return scalarText(value);
    case 'unresolved':
      return `{"@ref":${value.wire}}`;
    case 'lambda':
      return `{"@query":{${lambdaMembers(value, context)}}}`;
    case 'action':
      return `"${actionName(value.name, context)}"`;
    case 'pending':
      return String(context.pendingTs);
    default:
      return unreachable(value);
  }
}

function renderRef(ref: Ref, { context, out }: Rendering, before: string): boolean {
  const inside = context.names.refToWire(ref);
  if (inside !== undefined) out.add(`${before}{"@ref":${inside}}`);
  return inside !== undefined;
}

function renderDocument(
  document: Document,
  rendering: Rendering,
  depth: number,
  before: string,
): void {
  const { context, out } = rendering;
  // Not `fields`: reading it parses the text.
  const { ref, ts, text } = document;
  const inside = context.names.refToWire(ref);
  let start = inside === undefined ? `${before}{` : `${before}{"ref":{"@ref":${inside}},`;
  if (
    context.apiVersion === '2.0' &&
    renderRef(collectionRefOf(ref), rendering, `${start}"class":`)
  )
    start = ',';
  out.add(`${start}"ts":${typeof ts === 'number' ? ts : context.pendingTs}`);
  if (text === undefined) renderMembers(document.fields, rendering, depth, ',');
  else if (text !== '') out.add(`,${text}`);
  out.add('}');
}

function renderPage(page: Page, rendering: Rendering, depth: number, before: string): void {
  const { out } = rendering;
  out.add(`${before}{`);
  if (page.before !== undefined) {
    renderOrNull(page.before, rendering, depth, '"before":');
    out.add(',');
  }
  if (page.after !== undefined) {
    renderOrNull(page.after, rendering, depth, '"after":');
    out.add(',');
  }
  renderArray(page.data, rendering, depth, '"data":');
  out.add('}');
}

function renderOrNull(value: Value, rendering: Rendering, depth: number, before: string): void {
  if (!render(value, rendering, depth, before)) rendering.out.add(`${before}null`);
}

/** Names of the members of an event in old API versions. Spec: values 1. */
const EVENT_NAMES = new Map<string, readonly [document: string, values: string]>([
  ['2.0', ['resource', 'values']],
  ['2.1', ['instance', 'data']],
]);

function renderEvent(event: Event, rendering: Rendering, depth: number, before: string): void {
  const { context, out } = rendering;
  const [documentName, valuesName] = EVENT_NAMES.get(context.apiVersion) ?? ['document', 'data'];
  out.add(`${before}{"ts":${event.ts},"action":"${actionName(event.action, context)}"`);
  if (event.document) renderRef(event.document, rendering, `,"${documentName}":`);
  if (event.data !== undefined) {
    const name = isArray(event.data) ? valuesName : 'data';
    render(event.data, rendering, depth, `,"${name}":`);
  }
  out.add('}');
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

function renderSourced(
  { value, sources }: Sourced,
  rendering: Rendering,
  depth: number,
  before: string,
): void {
  renderOrNull(value, rendering, depth, `${before}{"value":`);
  renderArray(sources, rendering, depth, ',"sources":');
  rendering.out.add('}');
}

/** API versions whose lambdas need no version tag. */
const UNTAGGED = new Set(['2.0', '2.1', '2.7', '2.12']);

const lambdaMembers = (lambda: Lambda, context: RenderContext): string =>
  UNTAGGED.has(lambda.apiVersion) && UNTAGGED.has(context.apiVersion)
    ? lambda.wire
    : `"api_version":"${lambda.apiVersion}",${lambda.wire}`;

function renderSetOrRef(
  set: SetValue,
  rendering: Rendering,
  depth: number,
  before: string,
): boolean {
  const native = nativeRef(set);
  if (native) return renderRef(native, rendering, before);
  rendering.out.add(`${before}{"@set":{`);
  renderSet(set, rendering, depth);
  rendering.out.add('}}');
  return true;
}

/** The content of `{"@set":{…}}`. Lambdas are written without `@query` there, and the set under `events` without `@set`. */
function renderSet(set: SetValue, rendering: Rendering, depth: number): void {
  const { context, out } = rendering;
  if (set.op === 'events' && set.of.kind === 'set' && !nativeRef(set.of)) {
    out.add('"events":{');
    renderSet(set.of, rendering, deeper(depth));
    return out.add('}');
  }
  let separator = '';
  for (const [name, value] of setMembers(set)) {
    const before = `${separator}"${name}":`;
    if (isKinded(value) && value.kind === 'lambda' && name !== 'terms')
      out.add(`${before}{${lambdaMembers(value, context)}}`);
    else if (!render(value, rendering, depth, before)) continue;
    separator = ',';
  }
}
