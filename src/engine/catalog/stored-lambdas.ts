/** Function values as they are stored, and the schemas of one execution, which read them. */
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

/** Enough to read what is stored; to apply a function value takes a session. */
export const STORED_LAMBDAS = { parse: parseStoredLambda };

/** One schema of each database. `present` and `base`: see `Schema`. */
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
