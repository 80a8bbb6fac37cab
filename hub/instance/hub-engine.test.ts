/** Writes of a hub take turns: a caller that sends many at once delays the others by a commit or two, not until all are done. */
import { expect, test } from 'vitest';
import { hashOfRootSecret } from '../../src/engine/access.ts';
import { ROOT } from '../../src/engine/testing/engine-world.ts';
import { LIMITS } from '../../src/limits.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { DEFAULT_SETTINGS } from '../settings/settings.ts';
import { createHubEngine, sha256 } from './hub-engine.ts';

function openEngine() {
  return createHubEngine(DEFAULT_SETTINGS, {
    url: () => undefined,
    rootHash: hashOfRootSecret(ROOT, sha256),
    store: createMemoryStore(),
    passwords: { hash: () => Promise.resolve(''), verify: () => Promise.resolve(false) },
    longQueries: {
      lineOf: ({ address = '' }) => ({ name: address, group: address }),
      whenFree: () => undefined,
      turnMs: () => LIMITS.queryTimeoutMaxMs,
      execute: () => Promise.reject(new Error('No query takes long.')),
    },
  }).engine;
}

test('a write does not wait for thousands of earlier writes of another caller', async () => {
  const engine = openEngine();
  const ends: string[] = [];
  const ask = async (query: unknown, address: string): Promise<void> => {
    const request = { secret: ROOT, apiVersion: '4', allows: 'write' } as const;
    const answer = await engine.query({ ...request, query: JSON.stringify(query), address });
    expect(answer.status).toBeLessThan(300);
    ends.push(address);
  };
  await ask({ create_collection: { object: { name: 'notes' } } }, 'few');
  const create = { create: { collection: 'notes' }, params: { object: {} } };
  const many = Array.from({ length: 2000 }, () => ask(create, 'many'));
  await Promise.all([...many, ask(create, 'few')]);
  expect(ends).toHaveLength(2002);
  expect(ends.lastIndexOf('few')).toBeLessThan(600);
});
