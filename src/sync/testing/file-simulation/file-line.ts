/** The connection between a device and the hub: it loses, duplicates, delays and changes bytes. */
import { ROOT } from '../../../engine/testing/engine-world.ts';
import type { FileTransport } from '../../device/files/file-transport.ts';
import type { HubAnswer } from '../../device/syncer/transport.ts';
import type { FilePlace } from '../../protocol/files.ts';
import { SyncRefused } from '../../protocol/refusals.ts';
import type { FileDevice } from './file-device.ts';
import type { FileHubWorld } from './file-hub-world.ts';
import { LOST, type FileRun } from './file-run.ts';

/** @param onRead called when the hub has answered with a chunk of the file */
export function lineOf(
  run: FileRun,
  hub: FileHubWorld,
  device: FileDevice,
  onRead: (place: FilePlace) => Promise<void>,
): FileTransport {
  const { chance, clockwork, mutant } = run;
  const { files } = hub;
  const { secret } = device.hub;
  const exchange = async <T>(ask: () => Promise<T>): Promise<HubAnswer<T>> => {
    const { process } = device;
    await clockwork.sleep(chance.next() * 3000);
    await process.pass();
    if (chance.is(run.loss)) throw LOST;
    if (chance.is(run.lies))
      clockwork.after(chance.next() * 5000, () => void ask().catch(() => undefined));
    const answer = await answered(ask());
    await clockwork.sleep(chance.next() * 1000);
    await process.pass();
    if (chance.is(run.loss)) throw LOST;
    return answer;
  };
  const carried = (bytes: Uint8Array): Uint8Array =>
    chance.is(run.lies) ? bytes.map((byte) => byte ^ 1) : bytes.slice();
  const reader = mutant === 'rights are not checked' ? ROOT : secret;
  return {
    begin: async (place, manifest) => {
      const answer = await exchange(() => files.begin(secret, place, manifest));
      const hasAll = mutant === 'the hub claims to have every chunk' && answer.ok;
      return hasAll ? { ok: true, value: { missing: [] } } : answer;
    },
    write: (place, n, bytes) => {
      const sent = carried(bytes);
      return exchange(async () => {
        if (mutant === 'chunks are not checked') hub.putUnchecked(place, n, sent);
        else await files.write(secret, place, n, sent);
        return undefined;
      });
    },
    manifest: (place) => exchange(() => files.manifest(reader, place)),
    read: (place, n) =>
      exchange(async () => {
        const bytes = await files.read(reader, place, n);
        await onRead(place);
        return carried(bytes);
      }),
  };
}

async function answered<T>(ask: Promise<T>): Promise<HubAnswer<T>> {
  try {
    return { ok: true, value: await ask };
  } catch (reason) {
    if (reason instanceof SyncRefused) return { ok: false, refusal: reason.refusal };
    throw reason;
  }
}
