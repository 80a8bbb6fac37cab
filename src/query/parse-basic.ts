/** Readers of the forms that are no calls: what they hold is partly text, not expressions. Spec: functions 1.1 and 4.1. */
import type { Json, JsonObject } from '../codec/json.ts';
import { fault, QueryFailure, type Fault } from '../errors.ts';
import { typeName } from '../values/type-name.ts';
import { isArray, isObject } from '../values/value.ts';
import type { Value } from '../values/value.ts';
import { LambdaValue } from './lambda-value.ts';
import { Deferred, expected, invalid } from './literal.ts';
import { escapeTag, readEscape } from './literals.ts';
import { at, positionOf, type Where } from './query-path.ts';
import type { Node } from './node.ts';
import { collect, Dynamic, effectOfAll, failWhenFull, isLambda, toNode } from './parsed.ts';
import type { FormParser, Parsed } from './parsed.ts';
import { isAtLeast } from './session.ts';
import type { BasicForm } from './table.ts';

type ReadForm = (parser: FormParser, json: JsonObject, place: Where) => Parsed;

/** A reader for each basic form. */
export const BASIC_READERS: Readonly<Record<BasicForm, ReadForm>> = {
  let: readLet,
  var: readVar,
  if: readIf,
  do: readDo,
  object: readObject,
  query: readQuery,
  at: readAt,
  and: (parser, json, place) => readLogic('and', parser, json, place),
  or: (parser, json, place) => readLogic('or', parser, json, place),
  quote: (parser, json, place) =>
    parser.literal(parser.literals.data(json.get('quote') ?? null, at(place, 'quote')), place),
};

interface BindingText {
  readonly name: string;
  readonly json: Json;
  readonly place: Where;
}

function readLet(parser: FormParser, json: JsonObject, place: Where): Parsed {
  const { texts, faults: ownFaults } = parser.prepared(json, () => bindingTexts(json, place));
  const faults = [...ownFaults];
  const bindings: Node[] = [];
  parser.scopes.enterFrame();
  for (const [index, { name, json: expression, place: where }] of texts.entries()) {
    try {
      bindings.push(toNode(parser.part(expression, where, name)));
    } catch (failure) {
      collect(failure, faults);
    }
    parser.scopes.bind(name, index);
  }
  let body: Node | undefined;
  try {
    body = part(parser, json, 'in', place);
  } catch (failure) {
    collect(failure, faults);
  }
  parser.scopes.leaveFrame();
  if (!body || faults.length > 0) throw new QueryFailure(faults);
  const effect = effectOfAll([...bindings, body]);
  return new Dynamic({ kind: 'let', bindings, body, place, effect });
}

const part = (parser: FormParser, json: JsonObject, key: string, place: Where): Node =>
  toNode(parser.part(json.get(key) ?? null, place, key));

/** Array of objects with one key each, or one object. */
function bindingTexts(
  form: JsonObject,
  formPlace: Where,
): { readonly texts: readonly BindingText[]; readonly faults: readonly Fault[] } {
  const json = form.get('let') ?? null;
  const place = at(formPlace, 'let');
  const faults: Fault[] = [];
  const texts: BindingText[] = [];
  if (isArray(json)) {
    for (const [index, item] of json.entries()) {
      addBinding(texts, item, at(place, index), faults);
      failWhenFull(faults);
    }
    return { texts, faults };
  }
  const [object, where] = unescaped(json, place);
  if (isObject(object)) {
    for (const [name, expression] of object) texts.push({ name, json: expression, place: where });
  } else refuse('Array', object, where, faults);
  return { texts, faults };
}

function addBinding(texts: BindingText[], json: Json, place: Where, faults: Fault[]): void {
  const [object, where] = unescaped(json, place);
  if (!isObject(object) || object.size !== 1) return refuse('Object', object, where, faults);
  for (const [name, expression] of object) texts.push({ name, json: expression, place: where });
}

/** What `@obj` holds, or the text itself. */
function unescaped(json: Json, place: Where): readonly [Json, Where] {
  const inner = isObject(json) && json.size === 1 ? json.get('@obj') : undefined;
  return inner === undefined ? [json, place] : [inner, at(place, '@obj')];
}

function refuse(type: string, json: Json, place: Where, faults: Fault[]): void {
  const description = `${type} expected, ${typeName(json)} provided.`;
  faults.push(fault('invalid expression', positionOf(place), description));
}

function readVar(parser: FormParser, json: JsonObject, place: Where): Parsed {
  const name = json.get('var') ?? null;
  if (typeof name !== 'string') return expected('String', name, at(place, 'var'));
  const variable = parser.scopes.find(name);
  if (variable) return new Dynamic({ kind: 'var', variable, place, effect: 'pure' });
  const description = `Variable '${name}' is not defined.`;
  parser.unbound.push(fault('invalid expression', positionOf(place), description));
  failWhenFull(parser.unbound);
  return null;
}

function readIf(parser: FormParser, json: JsonObject, place: Where): Parsed {
  const condition = part(parser, json, 'if', place);
  const whenTrue = part(parser, json, 'then', place);
  const whenFalse = part(parser, json, 'else', place);
  const effect = effectOfAll([condition, whenTrue, whenFalse]);
  return new Dynamic({ kind: 'if', condition, whenTrue, whenFalse, place, effect });
}

function readDo(parser: FormParser, json: JsonObject, place: Where): Parsed {
  const list = json.get('do') ?? null;
  const where = at(place, 'do');
  if (!isArray(list)) return expected('Array', list, where);
  if (list.length === 0) return invalid(where, 'Expression list cannot be empty.');
  const items = partsOf(parser, list, where);
  return new Dynamic({ kind: 'do', items, place, effect: effectOfAll(items) });
}

/** Expressions that stand in an array of their own, which is no expression. */
function partsOf(parser: FormParser, json: readonly Json[], place: Where): readonly Node[] {
  const nodes: Node[] = [];
  for (const item of json) nodes.push(toNode(parser.part(item, place, nodes.length)));
  return nodes;
}

/** Members are expressions. An escape in place of the object is decoded, and is no object. */
function readObject(parser: FormParser, json: JsonObject, place: Where): Parsed {
  const object = json.get('object') ?? null;
  const where = at(place, 'object');
  if (!isObject(object)) return expected('Object', object, where);
  const tag = escapeTag(object);
  if (tag !== undefined) {
    const literal = readEscape(tag, object, place, parser.literals);
    return literal instanceof Deferred
      ? invalid(place, `Object expected, ${tag === '@ref' ? 'Ref' : 'Set'} provided.`)
      : expected('Object', literal, place);
  }
  const inner = object.size === 1 ? object.get('@obj') : undefined;
  if (inner === undefined) return readMembers(parser, object, where, place);
  return isObject(inner)
    ? readMembers(parser, inner, at(where, '@obj'), place)
    : invalid(where, 'Invalid object.');
}

function readMembers(parser: FormParser, object: JsonObject, where: Where, place: Where): Parsed {
  const members: (readonly [string, Parsed])[] = [];
  let isConstant = true;
  for (const [key, expression] of object) {
    const parsed = parser.part(expression, where, key);
    isConstant &&= !(parsed instanceof Dynamic);
    members.push([key, parsed]);
  }
  if (isConstant) return new Map(members as readonly (readonly [string, Value])[]);
  const nodes = members.map(([key, parsed]) => [key, toNode(parsed)] as const);
  const effect = effectOfAll(nodes.map(([, node]) => node));
  return new Dynamic({ kind: 'object', members: nodes, place, effect });
}

function readQuery(parser: FormParser, json: JsonObject, place: Where): Parsed {
  const text = json.get('query') ?? null;
  const where = at(place, 'query');
  if (!isLambda(text)) return expected('Lambda', text, where);
  const lambda = parser.lambda(text, where);
  return lambda.free.length === 0 && parser.unbound.length === 0
    ? new LambdaValue(lambda)
    : new Dynamic({ kind: 'query', lambda, place, effect: 'pure' });
}

function readAt(parser: FormParser, json: JsonObject, place: Where): Parsed {
  const time = part(parser, json, 'at', place);
  const body = part(parser, json, 'expr', place);
  return new Dynamic({ kind: 'at', time, body, place, effect: effectOfAll([time, body]) });
}

/** The operands are a literal array; anything else is one operand. */
function readLogic(kind: 'and' | 'or', parser: FormParser, json: JsonObject, place: Where): Parsed {
  const operands = json.get(kind) ?? null;
  const where = at(place, kind);
  const items = isArray(operands)
    ? partsOf(parser, operands, where)
    : [toNode(parser.part(operands, place, kind))];
  if (items.length === 0) return invalid(where, 'Non-empty array expected.');
  const stopsEarly = isAtLeast(parser.apiVersion, '3');
  return new Dynamic({ kind, items, stopsEarly, place, effect: effectOfAll(items) });
}
