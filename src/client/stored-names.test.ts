import { afterEach, expect, test, vi } from 'vitest';
import { UsageError } from './errors.ts';
import { checkName, listDatabases, storedName } from './stored-names.ts';

afterEach(() => vi.unstubAllGlobals());

test('storedName() is the name if there is no identity, and otherwise adds a hash of it', async () => {
  expect(await storedName('notes', undefined)).toBe('notes');
  const alice = await storedName('notes', 'alice@example.org');
  expect(alice).toMatch(/^notes #[\w-]{43}$/);
  expect(await storedName('notes', 'alice@example.org')).toBe(alice);
  expect(await storedName('notes', 'bob@example.org')).not.toBe(alice);
  expect((await storedName('diary', 'alice@example.org')).slice(-43)).not.toBe(alice.slice(-43));
  // The same letter in two Unicode forms.
  expect(await storedName('notes', 'Zoë')).toBe(await storedName('notes', 'Zoë'));
});

test('checkName() refuses invalid names', () => {
  for (const name of [undefined, 7, '', '\ud83d', 'a\udca7b'])
    expect(() => checkName(name)).toThrow(UsageError);
  expect(() => checkName('caf\u00e9 \ud83d\udca7')).not.toThrow();
});

test('checkName() refuses names that look like stored names with an identity', async () => {
  const stored = await storedName('notes', 'alice@example.org');
  expect(() => checkName(stored)).toThrow(UsageError);
  expect(() => checkName('notes #1')).not.toThrow();
});

// Such databases would be deleted together with the database `notes`.
test.each(['notes:files', 'notes:token'])('checkName() refuses %s', (name) => {
  expect(() => checkName(name)).toThrow(UsageError);
  expect(() => checkName(name.replace(':', ' '))).not.toThrow();
});

test('outside a browser, the error of listDatabases() says where it works', async () => {
  await expect(listDatabases('notes')).rejects.toThrow(
    'Databases can only be listed in a browser with `indexedDB.databases`.',
  );
});

test.each([
  ['throws', () => fail()],
  ['rejects', async () => fail()],
])(
  'listDatabases() rejects with `storage_unavailable` if `indexedDB.databases()` %s',
  async (_, databases) => {
    vi.stubGlobal('indexedDB', { databases });
    await expect(listDatabases('notes')).rejects.toMatchObject({
      code: 'storage_unavailable',
      description: 'No database can be listed: Access is denied in this context.',
    });
  },
);

function fail(): never {
  throw new DOMException('Access is denied in this context.', 'SecurityError');
}
