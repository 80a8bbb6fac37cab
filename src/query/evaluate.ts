/**
 * Evaluates the checked tree, synchronously; whatever is not at hand suspends the run.
 * Spec: functions 3.5 and 4.
 */
import { fail, isStackExhausted } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { Suspended } from '../store/reader.ts';
import { isArray } from '../values/value.ts';
import type { Lambda, Value } from '../values/value.ts';
import { boolean, readTime, seenAt } from './casts.ts';
import type { Applicable, Contexts, WriteContext } from './define.ts';
import { eachElement, Gathering, WAITING, waitFor } from './gather.ts';
import { Frame, frameAbove, lambdaNodeOf, LambdaValue, type Slot } from './lambda-value.ts';
import type { Memory } from './memory.ts';
import { EFFECT_RANK } from './effect.ts';
import { positionOf } from './place.ts';
import type { Argument, LambdaNode, Node, NodeOf, Pattern } from './node.ts';
import type { Effect } from './effect.ts';
import type { Where } from './place.ts';
import type { ApiVersion, ReadTime, WriteSession } from './session.ts';

/** What limits one evaluation. */
export interface EvaluateOptions {
  /** `write` when left out. */
  readonly allows?: Effect;
  /** Words for "…, which is not allowed in <place>." */
  readonly placeName?: string;
  /** What reads see; the present when left out. */
  readonly time?: ReadTime;
}

export interface ApplyOptions extends EvaluateOptions {
  /** Where a wrong number of arguments is reported (and `lambda`); where the lambda stands when left out. */
  readonly place?: Where;
}

/**
 * The value of a query.
 * @throws QueryFailure, Suspended, Refusal
 */
export const evaluate = (node: Node, session: WriteSession, options: EvaluateOptions = {}): Value =>
  guardStack(undefined, () => {
    const run = new Run(session, session.apiVersion, options);
    return evaluateNode(node, ROOT, run);
  });

/**
 * Applies a lambda that is a value: index bindings, sets' filters and joins, predicates of roles. `session` may be one for reading when
 * `allows` says so.
 * @throws QueryFailure, Suspended, Refusal
 */
export const applyLambda = (
  lambda: Lambda,
  argument: Value,
  session: WriteSession,
  options: ApplyOptions = {},
): Value =>
  guardStack(options.place, () => {
    const { body, scope = ROOT } = lambdaNodeOf(lambda);
    const run = new Run(session, body.apiVersion, options);
    return applyNode(body, scope, 1, argument, run, options.place ?? body.place);
  });

const ROOT = new Frame([], undefined, 0);

/** What stays the same while a query runs, but for `at` and lambdas of other versions. */
class Run {
  readonly session: WriteSession;
  readonly memory: Memory;
  readonly apiVersion: ApiVersion;
  readonly options: EvaluateOptions;
  readonly time: ReadTime;
  readonly allows: number;

  constructor(session: WriteSession, apiVersion: ApiVersion, options: EvaluateOptions) {
    this.session = session;
    this.memory = session.memory;
    this.apiVersion = apiVersion;
    this.options = options;
    this.time = options.time ?? 'present';
    this.allows = EFFECT_RANK[options.allows ?? 'write'];
  }

  at(time: ReadTime): Run {
    return new Run(this.session, this.apiVersion, { ...this.options, time });
  }

  inVersion(apiVersion: ApiVersion): Run {
    return apiVersion === this.apiVersion ? this : new Run(this.session, apiVersion, this.options);
  }
}

const refuseDepth = (place: Where): never =>
  fail(
    'stack overflow',
    positionOf(place),
    `Call stack reached the maximum limit of ${LIMITS.callDepth}.`,
  );

/** Deep recursion of tall functions may meet the end of JavaScript's stack before the limit of calls. */
function guardStack<T>(place: Where, body: () => T): T {
  try {
    return body();
  } catch (thrown) {
    if (isStackExhausted(thrown)) return refuseDepth(place);
    throw thrown;
  }
}

// --- nodes ----------------------------------------------------------------------------------------

type Evaluators = {
  readonly [K in Node['kind']]: (node: NodeOf<K>, frame: Frame, run: Run) => Value;
};

const EVALUATORS: Evaluators = {
  constant: (node) => node.value,
  literal: (node, _frame, run) => node.resolve(run.session),
  array: evaluateArray,
  object: evaluateObject,
  var: evaluateVariable,
  let: evaluateLet,
  if: evaluateIf,
  do: evaluateDo,
  and: evaluateLogic,
  or: evaluateLogic,
  at: evaluateAt,
  query: (node, frame, run) => closedOver(node.lambda, frame, run),
  call: evaluateCall,
};

// The kind of a node picks the evaluator of that kind: more than the type of the record can say. Where most nodes pass, this stands written
// out, and variables and constants, which most of them are, are told before: a search by kind takes longer than they do.
const evaluateNode = (node: Node, frame: Frame, run: Run): Value =>
  EVALUATORS[node.kind](node as never, frame, run);

/** To be filled in order. An array that grows from nothing takes 17 places at once. */
// oxlint-disable-next-line unicorn/no-new-array -- `Array.from` makes no room, it fills
const roomFor = <T>({ length }: readonly unknown[]): T[] => new Array<T>(length);

function evaluateArray(node: NodeOf<'array'>, frame: Frame, run: Run): Value {
  const { items } = node;
  const values = roomFor<Value>(items);
  let index = 0;
  try {
    let isFlat = true;
    for (const item of items) {
      const value =
        item.kind === 'var'
          ? evaluateVariable(item, frame)
          : item.kind === 'constant'
            ? item.value
            : EVALUATORS[item.kind](item as never, frame, run);
      if (typeof value === 'object') isFlat = false;
      values[index] = value;
      index += 1;
    }
    run.memory.takeItems(values, isFlat);
    return values;
  } catch (thrown) {
    return gatherRest(thrown, items.slice(index + 1), frame, run);
  }
}

function evaluateObject(node: NodeOf<'object'>, frame: Frame, run: Run): Value {
  const { members } = node;
  const values = new Map<string, Value>();
  try {
    let isFlat = true;
    for (const [key, member] of members) {
      const value = EVALUATORS[member.kind](member as never, frame, run);
      if (typeof value === 'object') isFlat = false;
      values.set(key, value);
    }
    run.memory.takeMembers(values, isFlat);
    return values;
  } catch (thrown) {
    const rest = members.slice(values.size + 1).map(([, member]) => member);
    return gatherRest(thrown, rest, frame, run);
  }
}

/** Members after one that did not give a value: all faults are reported, or all needs. */
function gatherRest(thrown: unknown, rest: readonly Node[], frame: Frame, run: Run): never {
  const gathering = new Gathering();
  gathering.add(thrown);
  lookAhead(gathering, rest, frame, run);
  return gathering.end();
}

function lookAhead(gathering: Gathering, nodes: readonly Node[], frame: Frame, run: Run): void {
  for (const node of nodes) {
    if (gathering.isFull) return;
    try {
      evaluateNode(node, frame, run);
    } catch (thrown) {
      gathering.add(thrown);
    }
    if (gathering.isIdle) return;
  }
}

function evaluateVariable(node: NodeOf<'var'>, frame: Frame): Value {
  const { up, index } = node.variable;
  const value = frameAbove(frame, up).slots[index];
  if (value instanceof Suspended) throw value;
  return value ?? null;
}

function evaluateLet(node: NodeOf<'let'>, frame: Frame, run: Run): Value {
  const { bindings } = node;
  const slots = roomFor<Slot>(bindings);
  const inner = new Frame(slots, frame, frame.depth);
  let gathering: Gathering | undefined;
  let index = 0;
  for (const binding of bindings) {
    try {
      slots[index] = EVALUATORS[binding.kind](binding as never, inner, run);
    } catch (thrown) {
      if (gathering) gathering.add(thrown);
      else gathering = waitFor(thrown);
      slots[index] = WAITING;
    }
    index += 1;
  }
  if (!gathering) return EVALUATORS[node.body.kind](node.body as never, inner, run);
  lookAhead(gathering, [node.body], inner, run);
  return gathering.end();
}

function evaluateIf(node: NodeOf<'if'>, frame: Frame, run: Run): Value {
  const { condition } = node;
  const chosen = EVALUATORS[condition.kind](condition as never, frame, run);
  if (typeof chosen !== 'boolean') boolean(chosen, { place: node.place, key: 'if', steps: [] });
  const branch = chosen === true ? node.whenTrue : node.whenFalse;
  return EVALUATORS[branch.kind](branch as never, frame, run);
}

function evaluateDo(node: NodeOf<'do'>, frame: Frame, run: Run): Value {
  const { items } = node;
  let done = 0;
  let value: Value = null;
  try {
    for (const item of items) {
      value = EVALUATORS[item.kind](item as never, frame, run);
      done += 1;
    }
    return value;
  } catch (thrown) {
    const gathering = waitFor(thrown);
    lookAhead(gathering, items.slice(done + 1), frame, run);
    return gathering.end();
  }
}

function evaluateLogic(node: NodeOf<'and' | 'or'>, frame: Frame, run: Run): boolean {
  const { items, kind, place } = node;
  const stops = kind === 'or';
  let result = !stops;
  let index = 0;
  for (const item of items) {
    const value = EVALUATORS[item.kind](item as never, frame, run);
    if (typeof value !== 'boolean') boolean(value, { place, key: kind, steps: [index] });
    if (value === stops) {
      if (node.stopsEarly) return stops;
      result = stops;
    }
    index += 1;
  }
  return result;
}

function evaluateAt(node: NodeOf<'at'>, frame: Frame, run: Run): Value {
  const where = { place: node.place, key: 'at', steps: [] };
  const time = readTime(evaluateNode(node.time, frame, run), where);
  return evaluateNode(node.body, frame, run.at(seenAt(time, run.session.snapshot)));
}

// --- calls ----------------------------------------------------------------------------------------

/** What a row may do when it is evaluated. */
const ROW_RANK = {
  pure: EFFECT_RANK.pure,
  'pure-reads': EFFECT_RANK.pure,
  read: EFFECT_RANK.read,
  write: EFFECT_RANK.write,
} as const satisfies Record<keyof Contexts, number>;

function evaluateCall(node: NodeOf<'call'>, frame: Frame, run: Run): Value {
  const { row } = node;
  if (ROW_RANK[row.effect] > run.allows) refuseEffect(node, run);
  run.session.charge(1);
  const values = evaluateArguments(node.arguments, frame, run);
  const value = row.call(values as never, new CallContext(node.place, frame, run) as never);
  if (typeof value === 'string') run.memory.takeText(value);
  else if (typeof value === 'object' && value !== null) takeResult(value, run);
  return value;
}

/** Making something large takes as long as going through it; functions of texts charge that themselves. */
function takeResult(value: Extract<Value, object>, { memory, session }: Run): void {
  const bytes = memory.takeValue(value);
  if (bytes >= BYTES_PER_STEP) session.charge(Math.floor(bytes / BYTES_PER_STEP));
}

const BYTES_PER_STEP = 2048;

function closedOver(lambda: LambdaNode, scope: Frame, { memory, session }: Run): Lambda {
  if (lambda.free.length > 0) memory.pin();
  return new LambdaValue(lambda, { scope, session });
}

function refuseEffect(node: NodeOf<'call'>, run: Run): never {
  const what = node.row.effect === 'write' ? 'a write' : 'a read';
  const { placeName = 'this place' } = run.options;
  return fail(
    'invalid expression',
    positionOf(node.place),
    `Call performs ${what}, which is not allowed in ${placeName}.`,
  );
}

/** Takes effect from the last to the first; the first that fails is the one reported. Spec: functions 3.5, 4.2. */
function evaluateArguments(
  list: readonly Argument[],
  frame: Frame,
  run: Run,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  let index = list.length - 1;
  try {
    for (; index >= 0; index -= 1) {
      const argument = list[index];
      if (!argument) continue;
      const { node, lambda, parameter } = argument;
      if (!node) values[argument.key] = { node: lambda, scope: frame };
      else if (parameter.form === 'lazy') {
        values[argument.key] = () => evaluateNode(node, frame, run);
      } else {
        const value =
          node.kind === 'var'
            ? evaluateVariable(node, frame)
            : node.kind === 'constant'
              ? node.value
              : EVALUATORS[node.kind](node as never, frame, run);
        values[argument.key] = parameter.cast(value, argument);
      }
    }
    return values;
  } catch (thrown) {
    return failFirst(thrown, list.slice(0, Math.max(index, 0)), frame, run);
  }
}

/** `before`: arguments declared before the one that threw. */
function failFirst(thrown: unknown, before: readonly Argument[], frame: Frame, run: Run): never {
  let first = thrown;
  const gathering = new Gathering();
  gathering.add(thrown);
  for (const argument of before.toReversed()) {
    try {
      evaluateArguments([argument], frame, run);
    } catch (another) {
      first = another;
      gathering.add(another);
    }
  }
  return gathering.isWaiting ? gathering.end() : rethrow(first);
}

function rethrow(thrown: unknown): never {
  throw thrown;
}

class CallContext implements WriteContext {
  readonly place: Where;
  private readonly frame: Frame;
  private readonly run: Run;

  constructor(place: Where, frame: Frame, run: Run) {
    this.place = place;
    this.frame = frame;
    this.run = run;
  }

  get session(): WriteSession {
    return this.run.session;
  }

  get apiVersion(): ApiVersion {
    return this.run.apiVersion;
  }

  get time(): ReadTime {
    return this.run.time;
  }

  apply(lambda: Applicable, argument: Value): Value {
    const { node } = lambda;
    return applyNode(node, this.frame, this.frame.depth + 1, argument, this.run, node.place);
  }

  each<T, R>(elements: Iterable<T>, body: (element: T, index: number) => R): R[] {
    return eachElement(elements, body);
  }

  fold(lambda: Applicable, initial: Value, elements: Iterable<Value>): Value {
    const { node } = lambda;
    const isPair = typeof node.pattern !== 'string' && node.pattern.length === 2;
    let result: Slot = initial;
    const step = (element: Value): Value => {
      if (result instanceof Suspended && !isPair) throw result;
      // A result that is waited for may be bound, so that the elements after it are looked at.
      const pair = [result as Value, element];
      return applyNode(node, this.frame, this.frame.depth + 1, pair, this.run, node.place);
    };
    const { memory } = this.run;
    const { mark } = memory;
    eachElement(elements, (element) => {
      this.run.session.charge(2);
      try {
        result = step(element);
        memory.keepOnly(result, mark);
      } catch (thrown) {
        result = WAITING;
        throw thrown;
      }
    });
    return result;
  }

  close(lambda: Applicable): Lambda {
    return closedOver(lambda.node, this.frame, this.run);
  }

  call(lambda: Lambda, argument: Value): Value {
    const { body, scope = ROOT } = lambdaNodeOf(lambda);
    return guardStack(this.place, () =>
      applyNode(body, scope, this.frame.depth + 1, argument, this.run, this.place),
    );
  }
}

// --- lambdas --------------------------------------------------------------------------------------

/** `depth`: of lambdas and functions being applied, this one included. `place`: of the form that applies it. */
function applyNode(
  lambda: LambdaNode,
  scope: Frame,
  depth: number,
  argument: Value,
  run: Run,
  place: Where,
): Value {
  if (depth > LIMITS.callDepth) refuseDepth(place);
  run.session.charge(1);
  const frame = new Frame(bind(lambda.pattern, argument, place), scope, depth);
  const { body } = lambda;
  const { memory } = run;
  const { mark } = memory;
  const value = EVALUATORS[body.kind](body as never, frame, run.inVersion(lambda.apiVersion));
  if (memory.mark !== mark) memory.keepOnly(value, mark);
  return value;
}

function bind(pattern: Pattern, argument: Value, place: Where): readonly Slot[] {
  if (typeof pattern === 'string') return [argument];
  if (isArray(argument) && argument.length === pattern.length) return argument;
  if (!isArray(argument) && pattern.length === 1) return [argument];
  const count = isArray(argument) ? argument.length : 1;
  return fail(
    'invalid argument',
    positionOf(place, 'lambda'),
    `Lambda expects an array with ${pattern.length} elements. Array contains ${count}.`,
  );
}
