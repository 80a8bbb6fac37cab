/** Function values and schemas of one execution: the same for a query, for background work and for authentication. */
import { parseJson } from '../../codec/json.ts';
import { applyLambda } from '../../query/evaluate.ts';
import { effectOf } from '../../query/lambda-value.ts';
import { parseLambda } from '../../query/parse.ts';
import { API_VERSIONS, type ApiVersion } from '../../query/session.ts';
import type { Writer } from '../../store/reader.ts';
import type { DatabaseId, Lambda } from '../../values/value.ts';
import type { Lambdas } from '../context/context.ts';
import { Schema } from '../catalog/schema.ts';
import type { EngineSession } from './engine-session.ts';

/** Lambdas that are values run in the session of the query that meets them. */
export function lambdasOf(session: { readonly current?: EngineSession }): Lambdas {
  return {
    parse: parseStoredLambda,
    effectOf,
    apply: (lambda, argument, limit, time = 'present') => {
      if (!session.current)
        throw new Error('a function value was applied before anybody was authenticated');
      return applyLambda(lambda, argument, session.current, { allows: limit, time });
    },
  };
}

/** One of each database. */
export function schemasOf(writer: Writer): (database: DatabaseId) => Schema {
  const schemas = new Map<DatabaseId, Schema>();
  return (database) => {
    const known = schemas.get(database);
    if (known) return known;
    const made = new Schema(database, writer, writer.base, parseStoredLambda);
    schemas.set(database, made);
    return made;
  };
}

const isApiVersion = (text: string): text is ApiVersion =>
  (API_VERSIONS as readonly string[]).includes(text);

function parseStoredLambda(wire: string, apiVersion: string): Lambda {
  return parseLambda(parseJson(`{${wire}}`), isApiVersion(apiVersion) ? apiVersion : '2.12');
}
