/** The engine of a page, in Node, over a packed store in memory that no other process has open. */
import { createHash } from 'node:crypto';
import { createEngine } from '../../src/engine/engine.ts';
import { PackedStore } from '../../src/packed/packed-store.ts';
import { createMemoryMedium, type MediumData } from '../../src/packed/testing/memory-medium.ts';

export const ROOT = 'root-secret';

export async function openPackedEngine(data: MediumData) {
  const store = new PackedStore({
    medium: createMemoryMedium(data),
    pause: () => Promise.resolve(),
    onFailure: (reason) => {
      throw reason;
    },
    leaseTerm: () => 1,
  });
  await store.open();
  let seed = 0;
  const engine = createEngine({
    store,
    clock: () => Date.now() * 1000,
    random: (count) => new Uint8Array(count).map(() => (seed += 1) % 256),
    sha256: (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()),
    passwords: { hash: () => Promise.resolve(''), verify: () => Promise.resolve(false) },
    hashCost: 10,
    durability: 'relaxed',
    rootSecret: ROOT,
    regionGroup: 'local',
    pause: () => Promise.resolve(),
    lease: { term: () => 1, isPermanent: true },
  });
  const ask = async (query: string, secret = ROOT) => {
    const answer = await engine.query({ secret, query, apiVersion: '4', allows: 'write' });
    if (answer.status > 201) throw new Error(answer.body);
    return answer;
  };
  return { store, ask };
}
