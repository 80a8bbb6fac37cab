/** Test kit: what the browser does to the storage of this origin, by its debugging protocol. */
import { cdp, server } from 'vitest/browser';

/** Why a test of this cannot run in this browser; undefined where it can. */
export const withoutProtocol =
  server.provider === 'playwright'
    ? undefined
    : 'only the debugging protocol of Chromium takes away the storage of an origin';

const send = (method: string, more: object): Promise<unknown> => {
  const session = cdp() as unknown as { send(method: string, options: object): Promise<unknown> };
  return session.send(method, { origin: location.origin, ...more });
};

/** As when the browser needs the space: databases are gone, open ones are closed by force. */
export const evictIndexedDb = (): Promise<unknown> =>
  send('Storage.clearDataForOrigin', { storageTypes: 'indexeddb' });

/** Evicts first: what the browser remembers of free space goes with it. */
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
