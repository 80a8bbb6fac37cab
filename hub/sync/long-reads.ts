/** Pulls and checks that would hold up others are executed by a thread for long queries, as by another hub on the same store. */
import type { LongRead } from '../evaluators/messages.ts';
import type { LongReads } from '../instance/open-hub.ts';
import type { SyncHub } from '../../src/sync/hub/sync-hub.ts';
import { isSyncRefusal, type SyncRefusal } from '../../src/sync/protocol/refusals.ts';

/** Undefined: it is to be executed here. @param message not checked yet */
export function executeElsewhere(
  { name, secret, message }: { readonly name: string } & Pick<LongRead, 'secret' | 'message'>,
  longReads: LongReads,
  sync: Pick<SyncHub, 'onPulledElsewhere'>,
): Promise<Uint8Array | SyncRefusal> | undefined {
  if (name !== 'pull' && name !== 'check') return undefined;
  const isLong = name === 'check' || loadsPages(message);
  if (!longReads.takes(secret, isLong)) return undefined;
  return longReads.execute({ name, secret, message }).then((answer) => {
    if (isSyncRefusal(answer)) return answer;
    const { json, read } = answer;
    if (read) sync.onPulledElsewhere(secret, message, read);
    return json;
  });
}

/** Whether a set of the pull is not complete on the device: a page of documents is read, each under the rights of the caller. */
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
