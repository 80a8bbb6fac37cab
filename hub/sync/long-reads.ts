/** Pulls and checks that would hold up others are executed by a thread for long queries, as by another hub on the same store. */
import type { LongRead, ReadAnswer } from '../evaluators/messages.ts';
import type { LongReads } from '../instance/open-hub.ts';
import type { SyncHub } from '../../src/sync/hub/sync-hub.ts';

/** Undefined: it is to be executed here. @param message not checked yet */
export function executeElsewhere(
  { name, secret, message }: { readonly name: string } & Pick<LongRead, 'secret' | 'message'>,
  longReads: LongReads,
  sync: Pick<SyncHub, 'onPulledElsewhere'>,
): Promise<ReadAnswer> | undefined {
  if (name !== 'pull' && name !== 'check') return undefined;
  const isLong = name === 'check' || loadsPages(message);
  if (!longReads.takes(secret, isLong)) return undefined;
  const answer = longReads.execute({ name, secret, message });
  return name === 'check' ? answer : answer.then((pulled) => tellOf(pulled));

  async function tellOf(pulled: ReadAnswer): Promise<ReadAnswer> {
    if (!(pulled instanceof Uint8Array)) return pulled;
    const { device } = Object(message) as { readonly device?: unknown };
    // At worst a hint that was held back comes with the next heartbeat.
    await sync.onPulledElsewhere(secret, device).catch(() => undefined);
    return pulled;
  }
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
