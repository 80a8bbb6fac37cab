/** Test kit: changes the storage of this origin, as the browser may do, through the debugging protocol. */
import { cdp, server } from 'vitest/browser';

/** Why tests of this cannot run in this browser. Undefined where they can. */
export const withoutProtocol =
  server.provider === 'playwright'
    ? undefined
    : 'only the debugging protocol of Chromium takes away the storage of an origin';

const send = (method: string, more: object): Promise<unknown> => {
  const session = cdp() as unknown as { send(method: string, options: object): Promise<unknown> };
  return session.send(method, { origin: location.origin, ...more });
};

/** As when the browser needs space: deletes the databases, and closes open ones by force. */
export const evictIndexedDb = (): Promise<unknown> =>
  send('Storage.clearDataForOrigin', { storageTypes: 'indexeddb' });

/** Evicts the databases first: that also resets what the browser has cached about free space. */
export async function withQuota(bytes: number, body: () => Promise<void>): Promise<void> {
  await evictIndexedDb();
  await send('Storage.overrideQuotaForOrigin', { quotaSize: bytes });
  try {
    await body();
  } finally {
    await liftQuota();
  }
}

export const liftQuota = (): Promise<unknown> => send('Storage.overrideQuotaForOrigin', {});
