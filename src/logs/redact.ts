/**
 * The part of a query that may be stored: everything except passwords, secrets and values that could be one. In doubt a value is hidden:
 * it is kept only where it cannot become part of a password or secret.
 */
import { stringifyJson, tryParseJson, type Json } from '../codec/json.ts';
import { HIDDEN, hideSecretTexts, mayHoldSecret } from '../engine/access.ts';

/** Longer queries are not stored; only their length is. */
export const QUERY_KEPT_CHARACTERS = 16 * 1024;

/**
 * The query in the form that may be stored. Undefined if it is not JSON or too long.
 * @param isParsed whether the engine has parsed it as JSON
 */
export function redactQuery(text: string, isParsed: boolean): string | undefined {
  // A query that arrived in parts has no text here.
  if (text === '' || text.length > QUERY_KEPT_CHARACTERS) return undefined;
  if (isParsed && !mayHoldSecret(text)) return text;
  const query = tryParseJson(text);
  if (query === undefined) return undefined;
  return hideSecretTexts(stringifyJson(hide(query, flowsIntoSecret(query))));
}

const SECRET_NAME = /passw|passphrase|passcode|^pwd?$|secret|bearer|authorization/i;

const isExpression = (json: Json): boolean => json instanceof Map || Array.isArray(json);

/** Any argument of a call of a stored function may be a password. */
const mayBePassword = (name: string, holder: ReadonlyMap<string, Json>): boolean =>
  name === 'arguments' && holder.has('call');

/**
 * Whether a secret may be outside of the member that names it: the value of such a member is an expression (a variable, a concatenation),
 * or its name is itself a value (`ToObject([["password", …]])`). Then any text in the query may be part of a secret.
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

/** Hides secrets in a query. `all`: hides every text and number and keeps only the shape. */
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
