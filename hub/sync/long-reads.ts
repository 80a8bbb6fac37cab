/** A thread for long queries executes pulls and checks that would delay others, like another hub on the same store. */
import type { EvaluatorPool } from '../evaluators/evaluator-pool.ts';
import type { LongRead } from '../evaluators/messages.ts';
import type { SyncHub } from '../../src/sync/hub/sync-hub.ts';
import { isSyncRefusal, type SyncRefusal } from '../../src/sync/protocol/refusals.ts';

/**
 * @param message not validated yet
 * @returns undefined if the request is to be executed in the main thread
 */
export function executeElsewhere(
  { name, secret, message }: { readonly name: string } & Pick<LongRead, 'secret' | 'message'>,
  evaluators: Pick<EvaluatorPool, 'holdsUpOthers' | 'read'>,
  sync: Pick<SyncHub, 'onPulledElsewhere'>,
): Promise<Uint8Array | SyncRefusal> | undefined {
  if (name !== 'pull' && name !== 'check') return undefined;
  const isLong = name === 'check' || loadsPages(message);
  if (!evaluators.holdsUpOthers({ secret }, isLong)) return undefined;
  return evaluators.read({ name, secret, message }).then((answer) => {
    if (isSyncRefusal(answer)) return answer;
    const { json, read } = answer;
    if (read) sync.onPulledElsewhere(secret, message, read);
    return json;
  });
}

/**
 * Whether the device has not loaded a set of the pull completely. Such a pull reads a page of documents, each with a check of the
 * caller's permissions.
 */
function loadsPages(message: unknown): boolean {
  const { sets } = Object(message) as { readonly sets?: unknown };
  return Array.isArray(sets) && sets.some(isIncomplete);
}

function isIncomplete(set: unknown): boolean {
  const { loaded } = Object(set) as { readonly loaded?: unknown };
  return (
    loaded === 'nothing' ||
    (Array.isArray(loaded) && loaded.some((position) => typeof position === 'string'))
  );
}
