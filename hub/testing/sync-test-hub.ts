/** A hub with a collection `things` and its sync route, and what devices send to it. */
import { sha256 } from '../../src/engine/testing/sha256.ts';
import { createSyncRoute, type SyncRouteSettings } from '../sync/sync-route.ts';
import type { HubSettings } from '../settings/settings.ts';
import { hashOf } from '../../src/sync/protocol/digest.ts';
import { SYNC_PROTOCOL } from '../../src/sync/protocol/messages.ts';
import { openTestHub, type TestHub } from './test-hub.ts';

export const DEVICE = 'd'.repeat(32);
export const HELLO = { protocol: SYNC_PROTOCOL, device: DEVICE, lastSeq: 0 };

export interface SyncTestHub extends TestHub {
  /** One exchange of the sync protocol; a string is sent as it is. */
  readonly post: (path: string, message: unknown, secret?: string) => Promise<Response>;
}

export async function openSyncTestHub(
  settings: Partial<HubSettings> = {},
  syncSettings: SyncRouteSettings = {},
): Promise<SyncTestHub> {
  const hub = await openTestHub({
    settings,
    routes: (opened) => [createSyncRoute(opened, syncSettings)],
  });
  await hub.query({ create_collection: { object: { name: 'things' } } });
  return {
    ...hub,
    post: (path, message, secret = hub.secret) =>
      fetch(`${hub.url}/sync/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}` },
        body: typeof message === 'string' ? message : JSON.stringify(message),
      }),
  };
}

/** Not before the hello of the device: µs. */
const NOW = Date.now() * 1000;

/** One write as a device pushes it. */
export function pushItem(seq: number, query: unknown) {
  const content = {
    seq,
    query: JSON.stringify(query),
    apiVersion: '4' as const,
    now: NOW,
    ids: [],
  };
  return { ...content, hash: hashOf(content, sha256) };
}

export const createThing = (data: object = {}) => ({
  create: { collection: 'things' },
  params: { object: { data: { object: data } } },
});
