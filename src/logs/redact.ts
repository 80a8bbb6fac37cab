/**
 * The part of a query that may be stored: everything but passwords, secrets and what could be one. In doubt a value
 * is hidden: it is kept only where it cannot become part of a password or secret.
 */
import { JsonError, parseJson, stringifyJson, type Json } from '../codec/json.ts';
import { HIDDEN, hideSecretTexts, mayHoldSecret } from '../engine/access.ts';

/** Of longer queries only the length is kept. */
export const QUERY_KEPT_CHARACTERS = 16 * 1024;

/**
 * The query as it may be stored; undefined if it is not JSON or too long. `isParsed`: the engine has parsed it as
 * JSON.
 */
export function redactQuery(text: string, isParsed: boolean): string | undefined {
  // Of one that came in parts, there is no text here.
  if (text === '' || text.length > QUERY_KEPT_CHARACTERS) return undefined;
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

/** Arguments of a stored function: any of them may be a password. */
const mayBePassword = (name: string, holder: ReadonlyMap<string, Json>): boolean =>
  name === 'arguments' && holder.has('call');

/**
 * Whether a secret may be outside of the member that names it: its value is an expression (a variable, a
 * concatenation), or its name is a value (`ToObject([["password", …]])`). Then any text may be part of it.
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

/** `all`: texts and numbers are hidden, only the shape stays. */
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
