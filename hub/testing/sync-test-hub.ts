/** A hub with a collection `things` and a sync route, and messages that devices send to it. */
import { sha256 } from '../../src/engine/testing/sha256.ts';
import { createSyncRoute, type SyncRouteSettings } from '../sync/sync-route.ts';
import type { HubSettings } from '../settings/settings.ts';
import { hashOf } from '../../src/sync/protocol/digest.ts';
import { SYNC_PROTOCOL } from '../../src/sync/protocol/messages.ts';
import { openTestHub, type TestHub } from './test-hub.ts';

export const DEVICE = 'd'.repeat(32);
export const HELLO = { protocol: SYNC_PROTOCOL, device: DEVICE, lastSeq: 0 };

export interface SyncTestHub extends TestHub {
  /** Sends one message of the sync protocol; a string is sent unchanged. */
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

/** In µs; not earlier than the hello of the device. */
const NOW = Date.now() * 1000;

/** A push with one write, as a device sends it. */
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
