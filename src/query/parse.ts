/**
 * Parses a query text into a checked tree. Everything that can be known without running the query is checked here:
 * forms, literals and variables. Constant parts are folded into one node. Spec: functions 1.1, 3.5 and 4.1; values 7.
 */
import { JsonError, parseJson, stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import { fail, type Fault, isStackExhausted, QueryFailure, type Step } from '../errors.ts';
import { Double, isArray, isObject } from '../values/value.ts';
import type { Lambda, Value } from '../values/value.ts';
import { NO_STEPS } from './casts.ts';
import type { Parameter } from './function-row.ts';
import { LambdaValue } from './lambda-value.ts';
import { withLetObjects } from './let-form.ts';
import { Deferred, expected, invalid, type Literal } from './literal.ts';
import { escapeTag, Literals, readEscape } from './literals.ts';
import { at } from './query-path.ts';
import { strongest } from './effect.ts';
import type { Argument, LambdaNode, Node, Pattern } from './node.ts';
import type { Effect } from './effect.ts';
import type { QueryPath } from './query-path.ts';
import { BASIC_READERS } from './parse-basic.ts';
import { collect, Dynamic, effectOfAll, isLambda, toNode } from './parsed.ts';
import type { FormParser, Parsed } from './parsed.ts';
import { Scopes } from './scopes.ts';
import { API_VERSIONS, type ApiVersion } from './session.ts';
import { lookup, takenBy, type FoundForm } from './table.ts';

/**
 * Parses a query.
 * @throws QueryFailure `invalid expression`
 */
export function parseQuery(text: string, apiVersion: ApiVersion): Node {
  if (text.trim() === '') fail('invalid expression', [], 'No query provided.');
  const parser = new Parser(apiVersion);
  try {
    const node = toNode(parser.root(jsonOf(text)));
    if (parser.unbound.length > 0) throw new QueryFailure(parser.unbound);
    return node;
  } catch (thrown) {
    if (isStackExhausted(thrown)) refuseNesting();
    throw thrown;
  }
}

const refuseNesting = (): never =>
  fail('invalid expression', [], 'Request body exceeds nesting limit.');

/**
 * Parses a lambda from its stored text (`"lambda":…,"expr":…`, with or without braces), or from its JSON.
 * @throws QueryFailure `invalid expression`
 */
export function parseLambda(wire: Json, apiVersion: ApiVersion): Lambda {
  const json = typeof wire === 'string' ? jsonOf(wire.startsWith('{') ? wire : `{${wire}}`) : wire;
  return isObject(json)
    ? closedLambda(json, undefined, apiVersion)
    : expected('Lambda', json, undefined);
}

function jsonOf(text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    if (error.reason === 'depth') return refuseNesting();
    const isSyntax = error.reason === 'syntax';
    const detail = isSyntax ? undefined : `The integer at ${error.offset} is beyond 64 bits.`;
    return fail('invalid expression', [], 'Request body is not valid JSON.', { detail });
  }
}

/** Parses a lambda that must not use outer variables. */
function closedLambda(json: JsonObject, path: QueryPath, apiVersion: ApiVersion): LambdaValue {
  if (!json.has('lambda') || !json.has('expr')) invalid(path, 'Invalid lambda.');
  const parser = new Parser(apiVersion);
  const node = parser.lambda(json, path);
  if (parser.unbound.length > 0) invalid(path, 'Invalid lambda.');
  return new LambdaValue(node);
}

/** A lambda without a version tag has version 2.12, the last one before the tag was introduced. Spec: values 6. */
function taggedLambda(json: JsonObject, path: QueryPath): LambdaValue {
  const tag = json.get('api_version');
  const apiVersion = tag === undefined ? '2.12' : API_VERSIONS.find((version) => version === tag);
  const keys = tag === undefined ? 2 : 3;
  return apiVersion === undefined || json.size !== keys
    ? invalid(path, 'Invalid lambda.')
    : closedLambda(json, path, apiVersion);
}

const TAKES_LAMBDA = {
  expression: false,
  lazy: false,
  lambda: true,
  'lambda-or-value': true,
} as const satisfies Record<Parameter<unknown>['form'], boolean>;

class Parser implements FormParser {
  readonly apiVersion: ApiVersion;
  /** Faults of undefined variables. They are reported only if there are no other faults. */
  readonly unbound: Fault[] = [];
  readonly literals = new Literals(taggedLambda);
  readonly scopes = new Scopes();

  constructor(apiVersion: ApiVersion) {
    this.apiVersion = apiVersion;
  }

  /**
   * Parses the part at `step`. It calls `array` or `form` directly, because each level of nesting should use few stack
   * frames.
   */
  part(json: Json, path: QueryPath, step: Step): Parsed {
    if (typeof json !== 'object' || json === null || json instanceof Double) return json;
    const where = at(path, step);
    return isArray(json) ? this.array(json, where) : this.form(json, where);
  }

  /** Parses the whole query. */
  root(json: Json): Parsed {
    if (typeof json !== 'object' || json === null || json instanceof Double) return json;
    return isArray(json) ? this.array(json, undefined) : this.form(json, undefined);
  }

  private array(json: readonly Json[], path: QueryPath): Parsed {
    const items = json.map((item, index) => this.part(item, path, index));
    if (!items.some((each) => each instanceof Dynamic)) return items as readonly Value[];
    const nodes = items.map(toNode);
    return new Dynamic({ kind: 'array', items: nodes, path, effect: effectOfAll(nodes) });
  }

  private form(json: JsonObject, path: QueryPath): Parsed {
    const found = lookup(json, this.apiVersion);
    if (found) {
      return 'basic' in found
        ? BASIC_READERS[found.basic](this, json, path)
        : this.call(found, json, path);
    }
    const tag = escapeTag(json);
    if (tag !== undefined) return this.literal(readEscape(tag, json, path, this.literals), path);
    if (json.size === 1 && json.has('@obj')) return this.escaped(json, path);
    return invalid(
      path,
      `No form/function found, or invalid argument keys: { ${[...json.keys()].join(', ')} }.`,
      json.has('lambda') ? 'Put it into q.Query().' : takenBy(json),
    );
  }

  /** The content of `@obj` is still an expression. */
  private escaped(json: JsonObject, path: QueryPath): Parsed {
    const inner = json.get('@obj') ?? null;
    return isObject(inner) ? this.form(inner, at(path, '@obj')) : invalid(path, 'Invalid object.');
  }

  literal(literal: Literal, path: QueryPath): Parsed {
    if (!(literal instanceof Deferred)) return literal;
    const { resolve } = literal;
    return new Dynamic({ kind: 'literal', resolve, path, effect: 'pure' });
  }

  private call(
    { row, parameters }: Extract<FoundForm, { row: unknown }>,
    json: JsonObject,
    path: QueryPath,
  ): Parsed {
    let effect = row.declared;
    const given = parameters.map(([key, parameter]): Argument => {
      const value = json.get(key) ?? null;
      let node: Node | undefined;
      let lambda: LambdaNode | undefined;
      if (TAKES_LAMBDA[parameter.form] && isLambda(value)) {
        lambda = this.lambda(value, at(path, key));
      } else {
        if (parameter.form === 'lambda') expected('Lambda', value, at(path, key));
        node = toNode(this.part(value, path, key));
      }
      effect = strongest(effect, (lambda ?? node)?.effect ?? 'pure');
      return { path, key, steps: NO_STEPS, parameter, node, lambda };
    });
    return new Dynamic({ kind: 'call', row, arguments: given, path, effect });
  }

  /** Reports faults of the pattern and of the body together. */
  lambda(json: JsonObject, path: QueryPath): LambdaNode {
    const faults: Fault[] = [];
    const pattern = this.pattern(json.get('lambda') ?? null, at(path, 'lambda'), faults);
    this.scopes.enterLambda();
    this.scopes.enterFrame();
    namesOf(pattern).forEach((name, index) => name !== '_' && this.scopes.bind(name, index));
    let body: Node | undefined;
    try {
      body = toNode(this.part(json.get('expr') ?? null, path, 'expr'));
    } catch (failure) {
      collect(failure, faults);
    }
    this.scopes.leaveFrame();
    const free = this.scopes.leaveLambda();
    if (!body || faults.length > 0) throw new QueryFailure(faults);
    return new ParsedLambda(json, pattern, body, this.apiVersion, free, path);
  }

  private pattern(json: Json, path: QueryPath, faults: Fault[]): Pattern {
    if (typeof json === 'string') return json;
    try {
      if (!isArray(json)) return expected('String or Array', json, path);
      return json.map((name, index) =>
        typeof name === 'string' ? name : expected('String', name, at(path, index)),
      );
    } catch (failure) {
      collect(failure, faults);
      return isArray(json) ? json.filter((name) => typeof name === 'string') : [];
    }
  }
}

const namesOf = (pattern: Pattern): readonly string[] =>
  typeof pattern === 'string' ? [pattern] : pattern;

/** The wire text is made only when it is needed, that is, when the lambda becomes a value that is rendered. */
class ParsedLambda implements LambdaNode {
  readonly pattern: Pattern;
  readonly body: Node;
  readonly apiVersion: ApiVersion;
  readonly free: LambdaNode['free'];
  readonly effect: Effect;
  readonly path: QueryPath;
  private readonly json: JsonObject;

  constructor(
    json: JsonObject,
    pattern: Pattern,
    body: Node,
    apiVersion: ApiVersion,
    free: LambdaNode['free'],
    path: QueryPath,
  ) {
    this.json = json;
    this.pattern = pattern;
    this.body = body;
    this.apiVersion = apiVersion;
    this.free = free;
    this.effect = body.effect;
    this.path = path;
  }

  get wire(): string {
    const json = this.json.get('expr') ?? null;
    const written = stringifyJson(json);
    const expression = written.includes('"let":[') ? stringifyJson(withLetObjects(json)) : written;
    return `"lambda":${stringifyJson(this.pattern)},"expr":${expression}`;
  }
}
