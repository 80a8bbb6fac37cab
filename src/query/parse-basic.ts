/**
 * Readers of the forms that are not calls. Some of their members are plain text, not expressions. Spec: functions 1.1
 * and 4.1.
 */
import type { Json, JsonObject } from '../codec/json.ts';
import { fault, QueryFailure, type Fault } from '../errors.ts';
import { typeName } from '../values/type-name.ts';
import { isArray, isObject } from '../values/value.ts';
import type { Value } from '../values/value.ts';
import { LambdaValue } from './lambda-value.ts';
import { typeExpected } from '../fault-texts.ts';
import { Deferred, expected, invalid } from './literal.ts';
import { escapeTag, readEscape } from './literals.ts';
import { at, positionOf, type QueryPath } from './query-path.ts';
import type { Node } from './node.ts';
import { collect, Dynamic, effectOfAll, failWhenFull, isLambda, toNode } from './parsed.ts';
import type { FormParser, Parsed } from './parsed.ts';
import { isAtLeast } from './session.ts';
import type { BasicForm } from './table.ts';

type ReadForm = (parser: FormParser, json: JsonObject, path: QueryPath) => Parsed;

export const BASIC_READERS: Readonly<Record<BasicForm, ReadForm>> = {
  let: readLet,
  var: readVar,
  if: readIf,
  do: readDo,
  object: readObject,
  query: readQuery,
  at: readAt,
  and: (parser, json, path) => readLogic('and', parser, json, path),
  or: (parser, json, queryPath) => readLogic('or', parser, json, queryPath),
  quote: (parser, json, queryPath) =>
    parser.literal(
      parser.literals.data(json.get('quote') ?? null, at(queryPath, 'quote')),
      queryPath,
    ),
};

interface BindingText {
  readonly name: string;
  readonly json: Json;
  readonly path: QueryPath;
}

function readLet(parser: FormParser, json: JsonObject, path: QueryPath): Parsed {
  const { texts, faults } = bindingTexts(json, path);
  const bindings: Node[] = [];
  parser.scopes.enterFrame();
  for (const [index, { name, json: expression, path: where }] of texts.entries()) {
    try {
      bindings.push(toNode(parser.part(expression, where, name)));
    } catch (failure) {
      collect(failure, faults);
    }
    parser.scopes.bind(name, index);
  }
  let body: Node | undefined;
  try {
    body = part(parser, json, 'in', path);
  } catch (failure) {
    collect(failure, faults);
  }
  parser.scopes.leaveFrame();
  if (!body || faults.length > 0) throw new QueryFailure(faults);
  const effect = effectOfAll([...bindings, body]);
  return new Dynamic({ kind: 'let', bindings, body, path, effect });
}

const part = (parser: FormParser, json: JsonObject, key: string, path: QueryPath): Node =>
  toNode(parser.part(json.get(key) ?? null, path, key));

/** Reads the bindings of a `let`: an array of objects with one key each, or one object. */
function bindingTexts(
  form: JsonObject,
  formPath: QueryPath,
): { readonly texts: readonly BindingText[]; readonly faults: Fault[] } {
  const json = form.get('let') ?? null;
  const path = at(formPath, 'let');
  const faults: Fault[] = [];
  const texts: BindingText[] = [];
  if (isArray(json)) {
    for (const [index, item] of json.entries()) {
      addBinding(texts, item, at(path, index), faults);
      failWhenFull(faults);
    }
    return { texts, faults };
  }
  const [object, where] = unescaped(json, path);
  if (isObject(object)) {
    for (const [name, expression] of object) texts.push({ name, json: expression, path: where });
  } else refuse('Array', object, where, faults);
  return { texts, faults };
}

function addBinding(texts: BindingText[], json: Json, path: QueryPath, faults: Fault[]): void {
  const [object, where] = unescaped(json, path);
  if (!isObject(object) || object.size !== 1) return refuse('Object', object, where, faults);
  for (const [name, expression] of object) texts.push({ name, json: expression, path: where });
}

/** The content of `@obj`, or the JSON itself. */
function unescaped(json: Json, path: QueryPath): readonly [Json, QueryPath] {
  const inner = isObject(json) && json.size === 1 ? json.get('@obj') : undefined;
  return inner === undefined ? [json, path] : [inner, at(path, '@obj')];
}

function refuse(type: string, json: Json, path: QueryPath, faults: Fault[]): void {
  const text = typeExpected(type, typeName(json));
  faults.push(fault('invalid expression', positionOf(path), text));
}

function readVar(parser: FormParser, json: JsonObject, path: QueryPath): Parsed {
  const name = json.get('var') ?? null;
  if (typeof name !== 'string') return expected('String', name, at(path, 'var'));
  const variable = parser.scopes.find(name);
  if (variable) return new Dynamic({ kind: 'var', variable, path, effect: 'pure' });
  const description = `Variable '${name}' is not defined.`;
  parser.unbound.push(fault('invalid expression', positionOf(path), description));
  failWhenFull(parser.unbound);
  return null;
}

function readIf(parser: FormParser, json: JsonObject, path: QueryPath): Parsed {
  const condition = part(parser, json, 'if', path);
  const whenTrue = part(parser, json, 'then', path);
  const whenFalse = part(parser, json, 'else', path);
  const effect = effectOfAll([condition, whenTrue, whenFalse]);
  return new Dynamic({ kind: 'if', condition, whenTrue, whenFalse, path, effect });
}

function readDo(parser: FormParser, json: JsonObject, path: QueryPath): Parsed {
  const list = json.get('do') ?? null;
  const where = at(path, 'do');
  if (!isArray(list)) return expected('Array', list, where);
  if (list.length === 0) return invalid(where, 'Expression list cannot be empty.');
  const items = partsOf(parser, list, where);
  return new Dynamic({ kind: 'do', items, path, effect: effectOfAll(items) });
}

/** Parses the expressions in an array that is not itself an expression. */
function partsOf(parser: FormParser, json: readonly Json[], path: QueryPath): readonly Node[] {
  const nodes: Node[] = [];
  for (const item of json) nodes.push(toNode(parser.part(item, path, nodes.length)));
  return nodes;
}

/** The members are expressions. If the object is an escape, it is decoded, and refused because it is not an object. */
function readObject(parser: FormParser, json: JsonObject, path: QueryPath): Parsed {
  const object = json.get('object') ?? null;
  const where = at(path, 'object');
  if (!isObject(object)) return expected('Object', object, where);
  const tag = escapeTag(object);
  if (tag !== undefined) {
    const literal = readEscape(tag, object, path, parser.literals);
    return literal instanceof Deferred
      ? invalid(path, typeExpected('Object', tag === '@ref' ? 'Ref' : 'Set'))
      : expected('Object', literal, path);
  }
  const inner = object.size === 1 ? object.get('@obj') : undefined;
  if (inner === undefined) return readMembers(parser, object, where, path);
  return isObject(inner)
    ? readMembers(parser, inner, at(where, '@obj'), path)
    : invalid(where, 'Invalid object.');
}

function readMembers(
  parser: FormParser,
  object: JsonObject,
  where: QueryPath,
  path: QueryPath,
): Parsed {
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
  return new Dynamic({ kind: 'object', members: nodes, path, effect });
}

function readQuery(parser: FormParser, json: JsonObject, path: QueryPath): Parsed {
  const text = json.get('query') ?? null;
  const where = at(path, 'query');
  if (!isLambda(text)) return expected('Lambda', text, where);
  const lambda = parser.lambda(text, where);
  return lambda.free.length === 0 && parser.unbound.length === 0
    ? new LambdaValue(lambda)
    : new Dynamic({ kind: 'query', lambda, path, effect: 'pure' });
}

function readAt(parser: FormParser, json: JsonObject, path: QueryPath): Parsed {
  const time = part(parser, json, 'at', path);
  const body = part(parser, json, 'expr', path);
  return new Dynamic({ kind: 'at', time, body, path, effect: effectOfAll([time, body]) });
}

/** The operands are the elements of a literal array. Anything else is a single operand. */
function readLogic(
  kind: 'and' | 'or',
  parser: FormParser,
  json: JsonObject,
  path: QueryPath,
): Parsed {
  const operands = json.get(kind) ?? null;
  const where = at(path, kind);
  const items = isArray(operands)
    ? partsOf(parser, operands, where)
    : [toNode(parser.part(operands, path, kind))];
  if (items.length === 0) return invalid(where, 'Non-empty array expected.');
  const stopsEarly = isAtLeast(parser.apiVersion, '3');
  return new Dynamic({ kind, items, stopsEarly, path, effect: effectOfAll(items) });
}
