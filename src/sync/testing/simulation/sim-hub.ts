/** The hub of a simulation: processes that come and go over one memory, and what an administrator does there. */
import { createHash } from 'node:crypto';
import { EngineWorld, ROOT } from '../../../engine/testing/engine-world.ts';
import { createMemoryStore, SharedMemory } from '../../../store/memory.ts';
import { prepareEpoch } from '../../hub/epoch.ts';
import { EPOCH } from '../../hub/device-rows.ts';
import { createSyncHub, type SyncHub } from '../../hub/sync-hub.ts';
import type { Chance, Clockwork } from './clockwork.ts';
import { Process, processStore } from './processes.ts';

export const START_MICROS = 1_767_225_600_000_000;
export const ACCOUNTS = 4;
export const TOTAL = ACCOUNTS * 100;

const sha256 = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(createHash('sha256').update(bytes).digest());

export interface SimHubOptions {
  readonly chance: Chance;
  readonly clockwork: Clockwork;
  readonly onDeath: (where: string) => void;
}

interface Running {
  readonly process: Process;
  readonly sync: SyncHub;
}

export class SimHub {
  memory = new SharedMemory();
  running: Running | undefined = undefined;
  private readonly options: SimHubOptions;

  constructor(options: SimHubOptions) {
    this.options = options;
  }

  private clock = (): number => START_MICROS + Math.floor(this.options.clockwork.now * 1000);

  /** A new process. */
  async start(): Promise<void> {
    const { chance } = this.options;
    await prepareEpoch(createMemoryStore(this.memory), (count) => chance.bytes(count));
    const process = new Process((where) => {
      this.running = undefined;
      this.options.onDeath(where);
    });
    const store = processStore(this.memory, process, this.options);
    const { engine } = this.world(store);
    const random = (count: number) => chance.bytes(count);
    const sync = createSyncHub({ engine, clock: this.clock, random, sha256, rootSecret: ROOT });
    this.running = { process, sync };
  }

  /** Straight to what is stored: nothing can go wrong on the way. */
  admin(): EngineWorld {
    return this.world(createMemoryStore(this.memory));
  }

  /** Puts back what was there, as a restore from a copy does. */
  async restore(version: SharedMemory['version']): Promise<void> {
    this.running?.process.kill('restore');
    this.memory = new SharedMemory();
    this.memory.version = version;
    const store = createMemoryStore(this.memory);
    const value = Array.from(this.options.chance.bytes(16), (byte) =>
      byte.toString(16).padStart(2, '0'),
    ).join('');
    await store.write(
      async (tx) => {
        const row = { key: EPOCH.key, entries: [], value };
        tx.apply({ puts: [{ space: EPOCH.space, row }], deletes: [] });
      },
      { durability: 'relaxed' },
    );
    await this.start();
  }

  private world(store: ConstructorParameters<typeof EngineWorld>[0]): EngineWorld {
    const { chance } = this.options;
    return new EngineWorld(store, {
      logsChanges: true,
      clock: this.clock,
      random: (count) => chance.bytes(count),
    });
  }
}

const coll = (name: string) => ({ collection: name });
const path = (...field: string[]) => ({ object: { field } });

/** What all simulations have: users, accounts, notes of theirs, marks of writes. */
export async function makeSchema(world: EngineWorld, users: number): Promise<readonly string[]> {
  for (const name of ['users', 'accounts', 'notes', 'marks', 'traps'])
    await world.ask({ create_collection: { object: { name } } });
  await world.ask({
    create_index: {
      object: {
        name: 'notes_by_owner',
        source: coll('notes'),
        terms: [path('data', 'owner')],
      },
    },
  });
  await world.ask({
    create_index: {
      object: { name: 'shared_notes', source: coll('notes'), terms: [path('data', 'shared')] },
    },
  });
  await world.ask({
    create_index: {
      object: {
        name: 'marks_by_name',
        source: coll('marks'),
        terms: [path('data', 'mark')],
        unique: true,
      },
    },
  });
  await world.ask({ create: { ref: coll('traps'), id: '1' }, params: { object: {} } });
  for (let i = 0; i < ACCOUNTS; i++)
    await world.ask({
      create: { ref: coll('accounts'), id: String(i) },
      params: { object: { data: { object: { balance: 100 } } } },
    });
  await world.ask({ create_role: { object: memberRole(true) } });
  const secrets: string[] = [];
  for (let i = 0; i < users; i++) {
    await world.ask({
      create: userRef(i),
      params: { object: { credentials: { object: { password: 'pw' } } } },
    });
    secrets.push(await logIn(world, i));
  }
  return secrets;
}

export const userRef = (user: number) => ({ ref: coll('users'), id: String(user + 1) });

export async function logIn(world: EngineWorld, user: number): Promise<string> {
  const token = await world.document({
    login: userRef(user),
    params: { object: { password: 'pw' } },
  });
  return token.secret;
}

/** @param sees whether notes that others share may be read */
export function memberRole(sees: boolean) {
  const read = {
    query: {
      lambda: 'ref',
      expr: {
        let: [{ data: { select: 'data', from: { get: { var: 'ref' } } } }],
        in: {
          or: [
            { equals: [{ select: 'owner', from: { var: 'data' } }, { current_identity: null }] },
            ...(sees ? [{ select: 'shared', from: { var: 'data' }, default: false }] : []),
          ],
        },
      },
    },
  };
  const ownMark = {
    query: {
      lambda: 'ref',
      expr: {
        equals: [
          { select: ['data', 'owner'], from: { get: { var: 'ref' } } },
          { current_identity: null },
        ],
      },
    },
  };
  const privilege = (resource: unknown, actions: Record<string, unknown>) => ({
    object: { resource, actions: { object: actions } },
  });
  return {
    name: 'member',
    membership: [{ object: { resource: coll('users') } }],
    privileges: [
      privilege(coll('accounts'), { read: true, write: true }),
      privilege(coll('notes'), { read, create: true, write: true, delete: true }),
      privilege(coll('marks'), { read: ownMark, create: true }),
      privilege(coll('traps'), { read: true }),
      privilege({ index: 'notes_by_owner' }, { read: true }),
      privilege({ index: 'shared_notes' }, { read: true }),
      privilege({ index: 'marks_by_name' }, { read: true }),
    ],
  };
}
