import { afterEach, expect, test, vi } from 'vitest';
import { rawOpen } from '../testing/raw-database.ts';
import { freshName } from '../testing/store-kit.ts';
import { browserVault, vaultName } from './token-vault.ts';

afterEach(() => void vi.useRealTimers());

test('forget() rejects with storage_blocked when another tab keeps the vault open', async () => {
  const name = freshName();
  await browserVault.keep(name, 'a token');
  const holder = await rawOpen(vaultName(name));
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const ends: unknown[] = [];
  browserVault.forget(name).then(
    () => ends.push('forgotten'),
    (reason: unknown) => ends.push(reason),
  );
  await vi.advanceTimersByTimeAsync(31_000);
  expect(ends).toMatchObject([{ code: 'storage_blocked' }]);
  holder.close();
});
