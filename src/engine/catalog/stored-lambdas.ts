/** Parses stored function values (lambdas). Applying them needs a session. */
import { parseJson } from '../../codec/json.ts';
import { parseLambda } from '../../query/parse.ts';
import { API_VERSIONS, type ApiVersion } from '../../query/session.ts';
import type { Lambda } from '../../values/value.ts';

const isApiVersion = (text: string): text is ApiVersion =>
  (API_VERSIONS as readonly string[]).includes(text);

export const parseStoredLambda = (wire: string, apiVersion: string): Lambda =>
  parseLambda(parseJson(`{${wire}}`), isApiVersion(apiVersion) ? apiVersion : '2.12');
