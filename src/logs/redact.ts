/**
 * What may be kept of a query: everything but passwords, secrets and what could be one. Built so that doubt hides:
 * a value is kept only where no way is seen for it to reach a password or secret.
 */
import { JsonError, parseJson, stringifyJson, type Json } from '../codec/json.ts';
import { HIDDEN, hideSecretTexts, mayHoldSecret } from '../engine/access.ts';

/** Longer queries are not kept: their length is. */
export const QUERY_KEPT_CHARACTERS = 16 * 1024;

/**
 * The query as it may be stored; undefined when it is no JSON or too long, of which nothing is kept.
 * `isParsed`: the engine has read it as JSON.
 */
export function redactQuery(text: string, isParsed: boolean): string | undefined {
  if (text.length > QUERY_KEPT_CHARACTERS) return undefined;
  if (isParsed && !mayHoldSecret(text)) return text;
  try {
    const query = parseJson(text);
    return hideSecretTexts(stringifyJson(hide(query, flowsIntoSecret(query))));
  } catch (reason) {
    if (reason instanceof JsonError) return undefined;
    throw reason;
  }
}

const SECRET_NAME = /passw|passphrase|passcode|^pwd?$|secret|bearer|authorization/i;

const isExpression = (json: Json): boolean => json instanceof Map || Array.isArray(json);

/** Arguments of a stored function: nobody knows which is a password. */
const mayBePassword = (name: string, holder: ReadonlyMap<string, Json>): boolean =>
  name === 'arguments' && holder.has('call');

/**
 * Whether a secret may be spelled elsewhere than in the member that names it: its value is an expression (a variable, a
 * concatenation), or its name is a value (`ToObject([["password", …]])`). Then every text may be part of it.
 */
function flowsIntoSecret(json: Json): boolean {
  if (typeof json === 'string') return SECRET_NAME.test(json);
  if (Array.isArray(json)) return json.some(flowsIntoSecret);
  if (!(json instanceof Map)) return false;
  for (const [name, value] of json) {
    if (SECRET_NAME.test(name) && isExpression(value)) return true;
    if (mayBePassword(name, json) && holdsExpression(value)) return true;
    if (flowsIntoSecret(value)) return true;
  }
  return false;
}

const holdsExpression = (json: Json): boolean =>
  json instanceof Map || (Array.isArray(json) && json.some(holdsExpression));

/** `all`: no text or number stays, only the shape. */
function hide(json: Json, all: boolean): Json {
  if (Array.isArray(json)) return json.map((item) => hide(item, all));
  if (json instanceof Map) {
    return new Map(
      [...json].map(([name, value]) => [
        name,
        SECRET_NAME.test(name) ? HIDDEN : hide(value, all || mayBePassword(name, json)),
      ]),
    );
  }
  return all && json !== null && typeof json !== 'boolean' ? HIDDEN : json;
}
