/**
 * Normalizes the text of a lambda: each `let` gets one object of bindings, however the program wrote it. Spec:
 * decisions.
 */
import type { Json, JsonObject } from '../codec/json.ts';
import { isEscaped } from '../codec/wire.ts';
import { isArray, isObject } from '../values/value.ts';
import { escapeTag } from './literals.ts';

/** @param json an expression that was parsed without faults */
export function withLetObjects(json: Json): Json {
  if (isArray(json)) return json.map(withLetObjects);
  if (!isObject(json) || isData(json)) return json;
  return new Map([...json].map(([key, part]) => [key, partOf(json, key, part)]));
}

/** Whether the object is data (an escape or a `quote`), in which nothing is an expression. */
const isData = (json: JsonObject): boolean =>
  escapeTag(json) !== undefined || (json.size === 1 && json.has('quote'));

function partOf(form: JsonObject, key: string, part: Json): Json {
  if (key === 'let' && form.has('in')) return merged(isArray(part) ? part : [part]);
  const isMembers = key === 'object' && isObject(part) && escapeTag(part) === undefined;
  return isMembers ? merged([part]) : withLetObjects(part);
}

/**
 * Merges the members of all objects into one object. The members are expressions, whatever their names are. If a name
 * is bound twice, the objects stay an array, because one object could hold only one of the bindings.
 */
function merged(objects: readonly Json[]): Json {
  const members = new Map<string, Json>();
  let count = 0;
  for (const object of objects) {
    for (const [name, expression] of unescaped(object)) {
      members.set(name, withLetObjects(expression));
      count += 1;
    }
  }
  if (count > members.size) return objects.map((each) => merged([each]));
  return isEscaped(members) ? new Map([['@obj', members]]) : members;
}

function unescaped(json: Json): JsonObject {
  if (!isObject(json)) return NOTHING;
  const inner = json.size === 1 ? (json.get('@obj') ?? null) : null;
  return isObject(inner) ? inner : json;
}

const NOTHING: JsonObject = new Map();
