/** An engine that also accepts the secret of the synced identity. */
import type { Credential } from '../../src/engine/host.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { ROOT_DATABASE } from '../../src/engine/catalog.ts';
import type { Replica } from '../../src/sync/device/replica/replica.ts';
import { Ref } from '../../src/values/value.ts';
import { WRITES_KEPT } from './leader.ts';
import type { SyncSession } from './session.ts';

export function syncedEngine(engine: Engine, session: SyncSession, replica: Replica): Engine {
  return {
    ...engine,
    query: (request) =>
      request.secret === session.secret ? session.query(request) : engine.query(request),
    authenticate: (secret) =>
      secret === session.secret ? identityOf(replica) : engine.authenticate(secret),
    // In a copy, the hub removes expired documents, and the copy receives the removal.
    collectExpiredData: async () => {
      if (!(await replica.state())) return engine.collectExpiredData();
      await replica.prune(WRITES_KEPT);
      return 0;
    },
  };
}

async function identityOf(replica: Replica): Promise<Credential | undefined> {
  const state = await replica.state();
  const actor = state?.actor;
  if (!actor || state.isLocked) return undefined;
  const { identity, role } = actor;
  return {
    label: { kind: 'token', id: '0' },
    role,
    identity: identity && new Ref(ROOT_DATABASE, identity[0], BigInt(identity[1])),
    database: [],
    globalId: '',
    since: 0,
  };
}
