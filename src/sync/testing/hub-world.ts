/** A hub for tests, and minimal devices, which consist of messages and a map of the documents they were sent. */
import { sha256 } from '../../engine/testing/sha256.ts';
import { create, doc, EngineWorld, obj, ROOT } from '../../engine/testing/engine-world.ts';
import type { EngineOptions } from '../../engine/host.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import { createMemoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import { unpackVersion } from '../../codec/row.ts';
import { createDeviceIds } from '../protocol/device-ids.ts';
import { hashOf } from '../protocol/digest.ts';
import {
  type Check,
  type Checked,
  type Hello,
  type Pull,
  type Pulled,
  type Push,
  type Pushed,
  SYNC_PROTOCOL,
  type Welcome,
} from '../protocol/messages.ts';
import type { DocumentName } from '../protocol/identifiers.ts';
import type { RequestedSet, SetPart } from '../protocol/sets.ts';
import type { PushItem, Verdict } from '../protocol/writes.ts';
import { isSyncRefusal, type SyncRefusal } from '../protocol/refusals.ts';
import { bucketOf, Fingerprint } from '../protocol/fingerprint.ts';
import { isLoaded } from '../protocol/loaded-sets.ts';
import { prepareEpoch } from '../hub/rows/epoch.ts';
import { prepareIdKey } from '../hub/rows/id-key.ts';
import type { PruneHost } from '../hub/pruning/prune-batch.ts';
import { SyncHub, type SyncHubOptions } from '../hub/sync-hub.ts';

export class HubWorld extends EngineWorld {
  epoch = '';
  readonly sync: SyncHub;
  /** How much the hub's clock advances each time it is read, µs. */
  haste = 0;
  private devices = 0;

  private constructor(
    store: Store,
    options: Partial<EngineOptions>,
    pause: SyncHubOptions['pause'],
  ) {
    super(store, { logsChanges: true, sha256, ...options });
    this.sync = this.beside({
      clock: () => (this.now += this.haste),
      random: (count) => sha256(new TextEncoder().encode(String(this.now))).slice(0, count),
      ...(pause && { pause }),
      ...(options.accessTokens && { accessTokens: options.accessTokens }),
    });
  }

  static async open(
    store: Store = createMemoryStore(),
    options: Partial<EngineOptions> = {},
    pause?: SyncHubOptions['pause'],
  ): Promise<HubWorld> {
    const world = new HubWorld(store, options, pause);
    const random = (count: number) => new Uint8Array(count).fill(7);
    world.epoch = await prepareEpoch(store, random);
    await prepareIdKey(store, random);
    return world;
  }

  /** Creates a user with a document of this id. Returns the secret of a token. */
  async user(id: number, data: Record<string, unknown> = {}): Promise<string> {
    const credentials = obj({ password: 'secret' });
    await this.ask(create(doc('users', id), data, { credentials }));
    return this.login(id);
  }

  /** The secret of a new token of a user. */
  async login(id: number, more: Record<string, unknown> = {}): Promise<string> {
    const params = obj({ password: 'secret', ...more });
    return (await this.document({ login: doc('users', id), params })).secret;
  }

  /** Another hub over the same data. */
  beside(options: Partial<SyncHubOptions> = {}): SyncHub {
    return new SyncHub({
      engine: this.engine,
      clock: () => this.now,
      random: (count) => new Uint8Array(count),
      sha256,
      rootSecret: ROOT,
      ...options,
    });
  }

  async device(secret: string = ROOT): Promise<Device> {
    const name = String((this.devices += 1)).padStart(32, '0');
    const device = new Device(this, secret, name);
    await device.hello();
    return device;
  }

  /** For the functions that prune. */
  get pruneHost(): PruneHost {
    const { store } = this;
    const { transactions } = this.engine;
    return { store, transactions, clock: () => this.now, pause: () => Promise.resolve() };
  }

  tick(ms = 1): void {
    this.now += ms * 1000;
  }
}

export interface Write {
  readonly query: unknown;
  readonly now?: number;
  readonly ids?: readonly string[];
  readonly digest?: string;
  readonly idKey?: string;
}

/** The answer, if it is not a refusal. @throws Error if it is one */
export function accepted<T extends object>(answer: T | SyncRefusal): T {
  if (isSyncRefusal(answer)) throw new Error(`${answer.code}: ${answer.description}`);
  return answer;
}

/** For example, `confirmed refused`. */
export const statesOf = (verdicts: readonly Pick<Verdict, 'state'>[]): string =>
  verdicts.map(({ state }) => state).join(' ');

interface AskedSet extends RequestedSet {
  readonly loaded: readonly (string | undefined)[] | 'nothing';
  readonly parts?: readonly SetPart[];
}

export class Device {
  readonly id: string;
  epoch: string;
  secret: string;
  seq = 0;
  settled = 0;
  cursor: number | undefined = undefined;
  token: string | undefined = undefined;
  schema: string | undefined = undefined;
  idKey = '';
  maxBytes: number = SYNC_LIMITS.pullBytes;
  sets: AskedSet[] = [];
  /** Stored text of the documents that it was sent, by name. */
  readonly documents = new Map<string, string>();
  /** Stored text of schema objects, by name. */
  schemas = new Map<string, string>();
  readonly verdicts = new Map<number, Verdict>();
  /** Names of all documents that were ever sent, or reported as gone. */
  readonly heardOf = new Set<string>();
  mustCheck = false;
  readonly world: HubWorld;
  private readonly makeId: ReturnType<typeof createDeviceIds>;
  private staged: { puts: Map<string, string | undefined> } | undefined = undefined;

  constructor(world: HubWorld, secret: string, id: string) {
    this.world = world;
    this.secret = secret;
    this.id = id;
    this.epoch = world.epoch;
    this.makeId = createDeviceIds(
      () => world.now,
      (count) => new Uint8Array(count),
      sha256,
    );
  }

  /** A copy of the device with its documents. @param id may be another device id */
  copy(id = this.id): Device {
    const { secret, sets, cursor, token, schema, documents } = this;
    const copy = Object.assign(new Device(this.world, secret, id), { sets, cursor, token, schema });
    for (const [name, stored] of documents) copy.documents.set(name, stored);
    return copy;
  }

  helloMessage(): Hello {
    const { id, epoch, seq, settled } = this;
    return { protocol: SYNC_PROTOCOL, device: id, epoch, lastSeq: seq, settled };
  }

  async hello(): Promise<Welcome> {
    const welcome = accepted(await this.tryHello());
    this.idKey = welcome.idKey;
    return welcome;
  }

  /** @param hub may be another one over the same data */
  tryHello(hub = this.world.sync): Promise<Welcome | SyncRefusal> {
    return hub.hello(this.secret, wire(this.helloMessage()));
  }

  /** A new document id of the device. */
  newId(): string {
    return String(this.makeId(this.idKey));
  }

  /** The next write, as it would be in the outbox. */
  item({
    query,
    now = this.world.now + this.seq,
    ids = [],
    digest,
    idKey = this.idKey,
  }: Write): PushItem {
    const content = {
      seq: (this.seq += 1),
      query: JSON.stringify(query),
      apiVersion: '4' as const,
      now,
      ids,
    };
    return { ...content, hash: hashOf(content, sha256), digest, idKey };
  }

  pushMessage(items: readonly PushItem[]): Push {
    return { device: this.id, epoch: this.epoch, items, settled: this.settled };
  }

  async push(...items: readonly PushItem[]): Promise<Pushed> {
    return accepted(await this.tryPush(...items));
  }

  tryPush(...items: readonly PushItem[]): Promise<Pushed | SyncRefusal> {
    return this.world.sync.push(this.secret, wire(this.pushMessage(items)));
  }

  watch(...queries: readonly unknown[]): this {
    this.sets = queries.map((query, i) => ({
      id: `s${i}`,
      query: JSON.stringify(query),
      loaded: 'nothing',
    }));
    return this;
  }

  pullMessage(refetch: readonly DocumentName[] = []): Pull {
    const { id, epoch, cursor, token, schema, sets, settled, maxBytes } = this;
    return { device: id, epoch, cursor, token, schema, sets, refetch, settled, maxBytes };
  }

  /** Pulls once, and applies the answer. */
  async pullOnce(refetch: readonly DocumentName[] = []): Promise<Pulled> {
    const answer = await this.world.sync.pull(this.secret, wire(this.pullMessage(refetch)));
    const pulled = accepted(answer);
    this.take(pulled);
    return pulled;
  }

  /** Pulls until nothing is left. Returns the number of pulls. */
  async pull(): Promise<number> {
    for (let count = 1; ; count++) {
      const pulled = await this.pullOnce();
      if (!pulled.more && pulled.sets.every(isLoaded)) return count;
      if (count > 10_000) throw new Error('a pull does not end');
    }
  }

  /** Compares fingerprints, and pulls the documents that differ. Returns how many did. */
  async check(): Promise<number> {
    let repaired = 0;
    for (const set of this.sets) {
      const parts = set.parts ?? [];
      const fingerprint = new Fingerprint();
      const held = [...this.documents].filter(([name]) => holds(parts, name));
      for (const [name, stored] of held) fingerprint.add([...nameOf(name), tsOf(stored)]);
      const message: Check = {
        device: this.id,
        epoch: this.epoch,
        set: { id: set.id, query: set.query },
        buckets: fingerprint.buckets(),
      };
      const answer = await this.world.sync.check(this.secret, wire(message));
      const { differing } = accepted(answer);
      const wanted = differencesOf(differing, held);
      repaired += wanted.length;
      if (wanted.length > 0) await this.pullOnce(wanted);
    }
    this.mustCheck = false;
    return repaired;
  }

  take(pulled: Pulled): void {
    this.staged ??= { puts: new Map() };
    for (const [collection, id, stored] of pulled.puts) {
      this.heardOf.add(`${collection}/${id}`);
      this.staged.puts.set(`${collection}/${id}`, stored);
    }
    for (const [collection, id] of pulled.leaves) {
      this.heardOf.add(`${collection}/${id}`);
      this.staged.puts.set(`${collection}/${id}`, undefined);
    }
    this.cursor = pulled.cursor;
    this.token = pulled.token;
    this.mustCheck ||= pulled.check;
    for (const verdict of pulled.verdicts) this.verdicts.set(verdict.seq, verdict);
    if (pulled.schema) {
      this.schema = pulled.schema.version;
      this.schemas = new Map(
        pulled.schema.documents.map(([collection, id, stored]) => [`${collection}/${id}`, stored]),
      );
    }
    this.sets = this.sets.map((set) => {
      const found = pulled.sets.find(({ id }) => id === set.id);
      return found ? { ...set, loaded: found.loaded, parts: found.parts } : set;
    });
    if (pulled.more) return;
    for (const [name, stored] of this.staged.puts)
      if (stored === undefined) this.documents.delete(name);
      else this.documents.set(name, stored);
    this.staged = undefined;
    // No document of a set with an error belongs here. Tests with several sets do not check this.
    if (pulled.sets.some(({ error }) => error)) this.documents.clear();
  }
}

/** The message as received over a network: members that are `undefined` are absent. */
export const wire = (message: unknown): unknown => JSON.parse(JSON.stringify(message));

const tsOf = (stored: string): number => unpackVersion(stored).ts;

function nameOf(name: string): [collection: number, id: string] {
  const [collection, id = ''] = name.split('/');
  return [Number(collection), id];
}

/** Supports only collections and documents: this test device does not compute index entries. */
function holds(parts: readonly SetPart[], name: string): boolean {
  const [collection, id] = nameOf(name);
  return parts.some((part) =>
    part.kind === 'collection'
      ? part.collection === collection
      : part.kind === 'document' && part.collection === collection && part.id === id,
  );
}

function differencesOf(
  differing: Checked['differing'],
  held: readonly (readonly [string, string])[],
): readonly DocumentName[] {
  const there = new Map<string, number>(
    differing.flatMap(({ documents }) =>
      documents.map(([collection, id, ts]) => [`${collection}/${id}`, ts] as const),
    ),
  );
  const buckets = new Set(differing.map(({ bucket }) => bucket));
  const here = new Map<string, number>(held.map(([name, stored]) => [name, tsOf(stored)]));
  const names = new Set<string>();
  for (const [name, ts] of there) if (here.get(name) !== ts) names.add(name);
  for (const name of here.keys())
    if (!there.has(name) && buckets.has(bucketOf(nameOf(name)))) names.add(name);
  return [...names].map(nameOf);
}
