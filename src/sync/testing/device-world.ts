/** A device for tests: its engine and its replica. `everything` reads the rows of a hub directly. */
import { randomBytes } from 'node:crypto';
import { sha256 } from '../../engine/testing/sha256.ts';
import { databasePrefix, decodeDocumentKey, hexOfKey } from '../../codec/key.ts';
import { unpackVersion } from '../../codec/row.ts';
import { EngineWorld } from '../../engine/testing/engine-world.ts';
import { createMemoryStore } from '../../store/memory.ts';
import type { Row, Store } from '../../store/port.ts';
import { NATIVE } from '../../values/native-kinds.ts';
import { Replica } from '../device/replica/replica.ts';
import { ReplicaView } from '../device/view/replica-view.ts';
import type { Actor, Pulled } from '../protocol/messages.ts';
import type { PulledDocument } from '../protocol/identifiers.ts';
import type { Verdict } from '../protocol/writes.ts';
import { prefixRange } from '../../codec/ranges.ts';
import { scan } from '../../store/scan.ts';
import type { SetAnswer, SetPart } from '../protocol/sets.ts';

export const ADMIN: Actor = { database: [], identity: undefined, role: 'admin', roles: [] };

export const WELCOMED = { actor: ADMIN, epoch: 'e', idKey: '1d'.repeat(32) };

export class DeviceWorld extends EngineWorld {
  readonly view: ReplicaView;
  readonly replica;

  constructor(store: Store = createMemoryStore()) {
    const view = new ReplicaView();
    super(store, {
      view,
      random: (count) => new Uint8Array(randomBytes(count)),
    });
    // Later than any time at which the hub did something before.
    this.now += 3_600_000_000;
    this.view = view;
    this.replica = new Replica({
      engine: this.engine,
      view,
      clock: () => (this.now += 1000),
      random: (count) => new Uint8Array(randomBytes(count)),
      sha256,
    });
  }

  /** Executes a read with the rights of the identity. */
  async see(query: unknown): Promise<unknown> {
    const answer = await this.replica.read({ query: JSON.stringify(query), apiVersion: '4' });
    return (JSON.parse(answer.body) as { resource?: unknown }).resource ?? JSON.parse(answer.body);
  }

  /** Executes a query with the root secret. */
  async asRoot(query: unknown): Promise<unknown> {
    return (JSON.parse((await this.answer(query)).body) as { resource?: unknown }).resource;
  }

  async submit(query: unknown, replaces?: string): Promise<string> {
    const text = JSON.stringify(query);
    const request = { query: text, apiVersion: '4', ...(replaces && { replaces }) } as const;
    const done = await this.replica.submit(request);
    if ('failed' in done) throw new Error(done.failed.body);
    return done.id;
  }
}

const SCHEMA: readonly number[] = [
  NATIVE.collections,
  NATIVE.indexes,
  NATIVE.functions,
  NATIVE.roles,
];

/** All documents of a hub, as the answer to a pull. */
export async function everything(store: Store, more: Partial<Pulled> = {}): Promise<Pulled> {
  const rows = await store.read(async (tx) => {
    const { ranges } = await tx.fetch([], [scan('documents', prefixRange(databasePrefix(0)))]);
    return (ranges[0] ?? []).flatMap(({ row }) => row ?? []);
  });
  const schema = rows.filter((row) => SCHEMA.includes(decodeDocumentKey(row.key).collection));
  const documents = rows.filter((row) => decodeDocumentKey(row.key).collection >= 1024);
  return {
    epoch: 'e',
    cursor: Math.max(0, ...rows.map(tsOf)),
    more: false,
    lastSeq: 0,
    verdicts: [],
    actor: ADMIN,
    schema: {
      version: schema.map((row) => hexOfKey(row.key)).join(),
      documents: schema.map(pulledOf),
    },
    puts: documents.map(pulledOf),
    leaves: [],
    sets: [],
    check: false,
    ...more,
  };
}

const pulledOf = (row: Row): PulledDocument => {
  const { collection, id } = decodeDocumentKey(row.key);
  return [collection, String(id), String(row.value)];
};

const tsOf = (row: Row): number => unpackVersion(String(row.value)).ts;

export const verdictOn = (
  item: { readonly seq: number; readonly hash: string },
  state: Verdict['state'],
  ts: number,
): Verdict => ({ seq: item.seq, hash: item.hash, state, ts, body: undefined });

/** The hub's answer for a set that is loaded, unless `more` says something else. */
export const answerFor = (
  id: string,
  parts: readonly SetPart[] = [],
  more: Partial<SetAnswer> = {},
): SetAnswer => ({
  id,
  parts,
  loaded: parts.map(() => undefined),
  of: undefined,
  error: undefined,
  ...more,
});
