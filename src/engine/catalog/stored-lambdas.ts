/** Parses stored function values (lambdas), and creates the schemas of one execution, which contain them. */
import { parseJson } from '../../codec/json.ts';
import { parseLambda } from '../../query/parse.ts';
import { API_VERSIONS, type ApiVersion } from '../../query/session.ts';
import type { Reader } from '../../store/reader.ts';
import type { DatabaseId, Lambda } from '../../values/value.ts';
import { Schema, type ParseLambda } from './schema.ts';

const isApiVersion = (text: string): text is ApiVersion =>
  (API_VERSIONS as readonly string[]).includes(text);

function parseStoredLambda(wire: string, apiVersion: string): Lambda {
  return parseLambda(parseJson(`{${wire}}`), isApiVersion(apiVersion) ? apiVersion : '2.12');
}

/** Enough to read stored function values. Applying them needs a session. */
export const STORED_LAMBDAS = { parse: parseStoredLambda };

/** Returns a function that creates the schema of each database once. For `present` and `base`, see `Schema`. */
export function schemasOver(
  present: Reader,
  base: Reader,
  parse: ParseLambda = parseStoredLambda,
): (database: DatabaseId) => Schema {
  const schemas = new Map<DatabaseId, Schema>();
  return (database) => {
    const known = schemas.get(database);
    if (known) return known;
    const made = new Schema(database, present, base, parse);
    schemas.set(database, made);
    return made;
  };
}
