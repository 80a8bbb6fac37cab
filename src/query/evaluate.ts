/**
 * Evaluates the checked tree synchronously. A read that is not cached suspends the execution. Spec: functions 3.5 and
 * 4.
 */
import { LIMITS } from '../limits.ts';
import { Suspended } from '../store/reader.ts';
import type { Lambda, Value } from '../values/value.ts';
import { guardStack, refuseDepth } from './call-depth.ts';
import { boolean, readTime } from './casts.ts';
import { COVERED, STEP_WORK } from './costs.ts';
import type { Applicable, WriteContext } from './define.ts';
import { Evaluation, type EvaluateOptions } from './evaluation.ts';
import { bind, Frame, ROOT, variableValue, type Slot } from './frame.ts';
import { eachElement, NeedCollector, WAITING, waitFor } from './collect-needs.ts';
import { lambdaNodeOf } from './lambda-value.ts';
import type { Argument, LambdaNode, Node, NodeOf } from './node.ts';
import type { QueryPath } from './query-path.ts';
import type { ApiVersion, ReadTime, WriteSession } from './session.ts';

/**
 * Evaluates a query and returns its value.
 * @throws QueryFailure, Suspended, Refusal
 */
export const evaluate = (node: Node, session: WriteSession, options: EvaluateOptions = {}): Value =>
  guardStack(undefined, () => {
    const evaluation = new Evaluation(session, session.apiVersion, options);
    return evaluateNode(node, ROOT, evaluation);
  });

/**
 * Applies a lambda that is a value: a binding of an index, a filter or join of a set, or a predicate of a role.
 * `session` may be one that only reads if `allows` excludes writes.
 * @throws QueryFailure, Suspended, Refusal
 */
export const applyLambda = (
  lambda: Lambda,
  argument: Value,
  session: WriteSession,
  options: EvaluateOptions = {},
): Value =>
  guardStack(undefined, () => {
    const { body, scope = ROOT } = lambdaNodeOf(lambda);
    const evaluation = new Evaluation(session, body.apiVersion, options);
    return applyNode(body, scope, 1, argument, evaluation, body.path);
  });

// --- nodes ----------------------------------------------------------------------------------------

type Evaluators = {
  readonly [K in Node['kind']]: (node: NodeOf<K>, frame: Frame, evaluation: Evaluation) => Value;
};

const EVALUATORS: Evaluators = {
  constant: (node) => node.value,
  literal: (node, _frame, evaluation) => node.resolve(evaluation.session),
  array: evaluateArray,
  object: evaluateObject,
  var: variableValue,
  let: evaluateLet,
  if: evaluateIf,
  do: evaluateDo,
  and: evaluateLogic,
  or: evaluateLogic,
  at: evaluateAt,
  query: (node, frame, evaluation) => evaluation.closeOver(node.lambda, frame),
  call: evaluateCall,
};

// `as never`: the record's type cannot express that the kind of a node selects the evaluator for that kind. The hottest
// paths inline this look-up, and check first for variables and constants, the most frequent nodes: for these the
// look-up takes longer than the evaluation.
const evaluateNode = (node: Node, frame: Frame, evaluation: Evaluation): Value =>
  EVALUATORS[node.kind](node as never, frame, evaluation);

/**
 * An array to be filled in order. It is preallocated, because an array that grows from empty allocates 17 elements at
 * once.
 */
// oxlint-disable-next-line unicorn/no-new-array -- `Array.from` makes no room, it fills
const roomFor = <T>({ length }: readonly unknown[]): T[] => new Array<T>(length);

function evaluateArray(node: NodeOf<'array'>, frame: Frame, evaluation: Evaluation): Value {
  const { items } = node;
  const values = roomFor<Value>(items);
  let index = 0;
  try {
    let isFlat = true;
    for (const item of items) {
      const value =
        item.kind === 'var'
          ? variableValue(item, frame)
          : item.kind === 'constant'
            ? item.value
            : EVALUATORS[item.kind](item as never, frame, evaluation);
      if (typeof value === 'object') isFlat = false;
      values[index] = value;
      index += 1;
    }
    evaluation.memory.takeItems(values, isFlat);
    return values;
  } catch (thrown) {
    return collectRest(thrown, items.slice(index + 1), frame, evaluation);
  }
}

function evaluateObject(node: NodeOf<'object'>, frame: Frame, evaluation: Evaluation): Value {
  const { members } = node;
  const values = new Map<string, Value>();
  try {
    let isFlat = true;
    for (const [key, member] of members) {
      const value = EVALUATORS[member.kind](member as never, frame, evaluation);
      if (typeof value === 'object') isFlat = false;
      values.set(key, value);
    }
    evaluation.memory.takeMembers(values, isFlat);
    return values;
  } catch (thrown) {
    const rest = members.slice(values.size + 1).map(([, member]) => member);
    return collectRest(thrown, rest, frame, evaluation);
  }
}

/** Evaluates the members after one that threw, and throws the faults or the needs of all. */
function collectRest(
  thrown: unknown,
  rest: readonly Node[],
  frame: Frame,
  evaluation: Evaluation,
): never {
  const collector = new NeedCollector();
  collector.add(thrown);
  lookAhead(collector, rest, frame, evaluation);
  return collector.end();
}

function lookAhead(
  collector: NeedCollector,
  nodes: readonly Node[],
  frame: Frame,
  evaluation: Evaluation,
): void {
  for (const node of nodes) {
    if (collector.isFull) return;
    try {
      evaluateNode(node, frame, evaluation);
    } catch (thrown) {
      collector.add(thrown);
    }
    if (collector.isIdle) return;
  }
}

function evaluateLet(node: NodeOf<'let'>, frame: Frame, evaluation: Evaluation): Value {
  const { bindings } = node;
  const slots = roomFor<Slot>(bindings);
  const inner = new Frame(slots, frame, frame.depth);
  let collector: NeedCollector | undefined;
  let index = 0;
  for (const binding of bindings) {
    try {
      slots[index] = EVALUATORS[binding.kind](binding as never, inner, evaluation);
    } catch (thrown) {
      if (collector) collector.add(thrown);
      else collector = waitFor(thrown);
      slots[index] = WAITING;
    }
    index += 1;
  }
  if (!collector) return EVALUATORS[node.body.kind](node.body as never, inner, evaluation);
  lookAhead(collector, [node.body], inner, evaluation);
  return collector.end();
}

function evaluateIf(node: NodeOf<'if'>, frame: Frame, evaluation: Evaluation): Value {
  const { condition } = node;
  const chosen = EVALUATORS[condition.kind](condition as never, frame, evaluation);
  if (typeof chosen !== 'boolean') boolean(chosen, { path: node.path, key: 'if', steps: [] });
  const branch = chosen === true ? node.whenTrue : node.whenFalse;
  return EVALUATORS[branch.kind](branch as never, frame, evaluation);
}

function evaluateDo(node: NodeOf<'do'>, frame: Frame, evaluation: Evaluation): Value {
  const { items } = node;
  let done = 0;
  let value: Value = null;
  try {
    for (const item of items) {
      value = EVALUATORS[item.kind](item as never, frame, evaluation);
      done += 1;
    }
    return value;
  } catch (thrown) {
    const collector = waitFor(thrown);
    lookAhead(collector, items.slice(done + 1), frame, evaluation);
    return collector.end();
  }
}

function evaluateLogic(node: NodeOf<'and' | 'or'>, frame: Frame, evaluation: Evaluation): boolean {
  const { items, kind, path } = node;
  const stops = kind === 'or';
  let result = !stops;
  let index = 0;
  for (const item of items) {
    const value = EVALUATORS[item.kind](item as never, frame, evaluation);
    if (typeof value !== 'boolean') boolean(value, { path, key: kind, steps: [index] });
    if (value === stops) {
      if (node.stopsEarly) return stops;
      result = stops;
    }
    index += 1;
  }
  return result;
}

function evaluateAt(node: NodeOf<'at'>, frame: Frame, evaluation: Evaluation): Value {
  const where = { path: node.path, key: 'at', steps: [] };
  const time = readTime(evaluateNode(node.time, frame, evaluation), where);
  return evaluateNode(node.body, frame, evaluation.at(evaluation.session.seenAt(time)));
}

// --- calls ----------------------------------------------------------------------------------------

function evaluateCall(node: NodeOf<'call'>, frame: Frame, evaluation: Evaluation): Value {
  const { row } = node;
  evaluation.checkEffect(node);
  evaluation.session.charge(1);
  const values = evaluateArguments(node.arguments, frame, evaluation);
  const context = new CallContext(node.path, frame, evaluation);
  const { cost } = row;
  if (cost !== COVERED) {
    const units = typeof cost === 'number' ? cost : cost(values as never, context as never);
    if (units > STEP_WORK) evaluation.session.spend(units);
  }
  const value = row.call(values as never, context as never);
  evaluation.takeResult(value);
  return value;
}

/**
 * Evaluates arguments from the last to the first. If several fail, the fault of the first one is reported. Spec:
 * functions 3.5, 4.2.
 */
function evaluateArguments(
  list: readonly Argument[],
  frame: Frame,
  evaluation: Evaluation,
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
        values[argument.key] = () => evaluateNode(node, frame, evaluation);
      } else {
        const value =
          node.kind === 'var'
            ? variableValue(node, frame)
            : node.kind === 'constant'
              ? node.value
              : EVALUATORS[node.kind](node as never, frame, evaluation);
        values[argument.key] = parameter.cast(value, argument);
      }
    }
    return values;
  } catch (thrown) {
    // No other argument precedes this one: its fault is the first, or its needs are all that can be collected.
    if (index <= 0) throw thrown;
    return failFirst(thrown, list.slice(0, index), frame, evaluation);
  }
}

/** @param before the arguments declared before the one that threw */
function failFirst(
  thrown: unknown,
  before: readonly Argument[],
  frame: Frame,
  evaluation: Evaluation,
): never {
  let first = thrown;
  const collector = new NeedCollector();
  collector.add(thrown);
  for (const argument of before.toReversed()) {
    try {
      evaluateArguments([argument], frame, evaluation);
    } catch (another) {
      first = another;
      collector.add(another);
    }
  }
  return collector.isWaiting ? collector.end() : rethrow(first);
}

function rethrow(thrown: unknown): never {
  throw thrown;
}

class CallContext implements WriteContext {
  readonly path: QueryPath;
  private readonly frame: Frame;
  private readonly evaluation: Evaluation;

  constructor(path: QueryPath, frame: Frame, evaluation: Evaluation) {
    this.path = path;
    this.frame = frame;
    this.evaluation = evaluation;
  }

  get session(): WriteSession {
    return this.evaluation.session;
  }

  get apiVersion(): ApiVersion {
    return this.evaluation.apiVersion;
  }

  get time(): ReadTime {
    return this.evaluation.time;
  }

  apply(lambda: Applicable, argument: Value): Value {
    const { node } = lambda;
    return applyNode(node, this.frame, this.frame.depth + 1, argument, this.evaluation, node.path);
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
      // If the result so far is missing, `WAITING` is bound in its place, so that later elements are evaluated and
      // their needs collected.
      const pair = [result as Value, element];
      return applyNode(node, this.frame, this.frame.depth + 1, pair, this.evaluation, node.path);
    };
    const { memory } = this.evaluation;
    const { mark } = memory;
    eachElement(elements, (element) => {
      this.evaluation.session.charge(2);
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
    return this.evaluation.closeOver(lambda.node, this.frame);
  }

  call(lambda: Lambda, argument: Value, session: WriteSession): Value {
    const { body, scope = ROOT } = lambdaNodeOf(lambda);
    const evaluation = this.evaluation.inSession(session);
    return guardStack(this.path, () =>
      applyNode(body, scope, this.frame.depth + 1, argument, evaluation, this.path),
    );
  }
}

// --- lambdas --------------------------------------------------------------------------------------

/**
 * @param depth nesting of lambdas and functions being applied, including this one
 * @param path of the form that applies it
 */
function applyNode(
  lambda: LambdaNode,
  scope: Frame,
  depth: number,
  argument: Value,
  evaluation: Evaluation,
  path: QueryPath,
): Value {
  if (depth > LIMITS.callDepth) refuseDepth(path);
  evaluation.session.charge(1);
  const frame = new Frame(bind(lambda.pattern, argument, path), scope, depth);
  const { body } = lambda;
  const { memory } = evaluation;
  const { mark } = memory;
  const value = EVALUATORS[body.kind](
    body as never,
    frame,
    evaluation.inVersion(lambda.apiVersion),
  );
  if (memory.mark !== mark) memory.keepOnly(value, mark);
  return value;
}
