/** A copy drops the schema of sets that its user may no longer read. Its answers must still say "permission denied", not "undefined". */
import type { QueryAnswer } from '../../../engine/host.ts';
import { errorBody } from '../../../engine/session.ts';
import { described, FAULTS } from '../../../errors.ts';
import { denied, undefinedRef } from '../../../fault-texts.ts';
import type { ApiVersion } from '../../../query/session.ts';
import type { KeptSet } from '../state/replica-state.ts';

/** Names of collections and indexes in the query of a set. The set was refused because of one of them. */
const NAMED = /"(collection|index)":"((?:[^"\\]|\\.)*)"/g;

/** The answer, or the refusal that the hub would answer with. */
export function asTheHubDenies<Answer extends QueryAnswer>(
  answer: Answer,
  sets: readonly KeptSet[],
  apiVersion: ApiVersion,
): Answer {
  const [fault] = answer.faults ?? [];
  if (fault?.code !== 'invalid ref') return answer;
  const names = sets
    .filter(({ error }) => error?.code === 'permission denied')
    .flatMap(({ query }) => [...query.matchAll(NAMED)]);
  const isDenied = names.some(([, kind = '', name = '']) => {
    const text = undefinedRef(kind, JSON.parse(`"${name}"`) as string);
    return described(text).description === fault.description;
  });
  if (!isDenied) return answer;
  const faults = [denied(fault.position)];
  return {
    ...answer,
    status: FAULTS['permission denied'].status,
    faults,
    body: errorBody(faults, apiVersion),
  };
}
