/** The invariants that must hold at every moment, and at the end. They are numbered as in threats (e) 4. */
import { sha256 } from '../../../engine/testing/sha256.ts';
import { EngineWorld, ROOT } from '../../../engine/testing/engine-world.ts';
import { createMemoryStore, SharedMemory } from '../../../store/memory.ts';
import type { ReplicaState } from '../../device/state/replica-state.ts';
import type { OutboxRecord } from '../../device/state/outbox-record.ts';
import { isLoaded } from '../../protocol/loaded-sets.ts';
import { derivedIds } from '../../protocol/digest.ts';
import { ID_NOT_AVAILABLE } from '../../hub/push/given-ids.ts';
import type { DeviceRecord } from '../../hub/rows/device-rows.ts';
import type { PushItem, Verdict } from '../../protocol/writes.ts';
import { syncKey } from '../../../codec/key.ts';
import { difference } from './end.ts';
import { heldBy, nameOf } from './model.ts';
import { documentRows, schemaRows, syncRows } from './rows-in.ts';
import type { SimDevice } from './sim-device.ts';
import { ACCOUNTS, coll, TOTAL, when } from './sim-schema.ts';
import { markOf, type World } from './world.ts';

/** The latest findings for a device, so that an unchanged device is not checked again. */
interface Last {
  version: SharedMemory['version'] | undefined;
  epoch: string | undefined;
  cursor: number;
  losses: number;
}

const NO_CONTACT = { epoch: undefined, cursor: 0, losses: 0 };

export class Invariants {
  private readonly world: World;
  private readonly last = new Map<SimDevice, Last>();

  constructor(world: World) {
    this.world = world;
  }

  async check(): Promise<void> {
    for (const device of this.world.devices) await this.checkDevice(device);
    this.checkOnce();
  }

  private async checkDevice(device: SimDevice): Promise<void> {
    const { version } = device.memory;
    const last = this.last.get(device) ?? { version: undefined, ...NO_CONTACT };
    this.last.set(device, last);
    const state = device.stored();
    if (!state || last.version === version) return;
    last.version = version;
    for (const what of await device.disk.damage()) this.blame('store', device, what);
    this.checkCursor(device, state, last);
    this.checkHeld(device, state);
    this.checkKnown(device, state);
    this.checkOutbox(device);
    if (!state.isLocked) await this.checkView(device, state);
  }

  private blame(id: string, device: SimDevice, what: string): void {
    this.world.problems.push(`${id}: ${device.name} ${what}`);
  }

  /** I4: the cursor only grows, within one epoch of the hub, unless the device itself was set back. */
  private checkCursor(device: SimDevice, { epoch, cursor }: ReplicaState, last: Last): void {
    if (device.losses > last.losses) Object.assign(last, NO_CONTACT, { losses: device.losses });
    if (cursor === undefined) return;
    if (epoch === last.epoch && cursor < last.cursor)
      this.blame('I4', device, `has gone back from ${last.cursor} to ${cursor}`);
    last.epoch = epoch;
    last.cursor = cursor;
  }

  /** I4, I6: the stored documents are those that the user sees at the hub at the cursor, as far as they are loaded. */
  private checkHeld(device: SimDevice, { epoch, cursor, sets, givenUp }: ReplicaState): void {
    if (device.isSuspect || cursor === undefined || epoch === undefined) return;
    // Rights may have changed between the cursor and the comparison. The next pull will show it.
    if (cursor < device.comparedAt) return;
    const there = this.world.hub.stateAt(epoch, cursor);
    if (!there) return;
    const expected = heldBy(there, device.user, sets);
    const here = new Map(
      documentRows(device.memory.version).map((each) => [nameOf(each), each.ts + each.body]),
    );
    this.world.count('copies compared');
    for (const [name, text] of expected)
      if (here.get(name) !== text)
        this.blame('I4', device, `has ${name} as ${here.get(name)}, not ${text}, at ${cursor}`);
    // Documents of former sets are removed when the hub has resolved the new ones.
    if (givenUp?.length) return;
    for (const [name, text] of here)
      if (!expected.has(name)) this.blame('I6', device, `holds ${name} ${text} at ${cursor}`);
  }

  /** I2: every verdict on the device was reached by the hub, for the same write. */
  private checkKnown(device: SimDevice, { epoch, device: id, era }: ReplicaState): void {
    const { hub } = this.world;
    if (epoch !== hub.epoch) return;
    const { sync } = hub.memory.version;
    const rowAt = (key: ReturnType<typeof syncKey>) => sync.keys.get(key, key)?.row?.value;
    const text = rowAt(syncKey('device', 0, id));
    const known = text === undefined ? undefined : (JSON.parse(String(text)) as DeviceRecord);
    for (const { id: write, era: own, item, verdict } of device.outbox()) {
      if (!verdict || own !== era) continue;
      if (item.seq > (known?.lastSeq ?? 0))
        this.blame('I2', device, `has a verdict on ${write} that the hub has not`);
      if (item.seq <= (known?.forgotten ?? 0)) continue;
      const kept = rowAt(syncKey('verdict', 0, id, item.seq));
      const theirs = kept === undefined ? undefined : (JSON.parse(String(kept)) as Verdict);
      if (theirs?.hash !== item.hash || theirs.state !== verdict.state)
        this.blame(
          'I2',
          device,
          `takes ${write} for ${verdict.state}, the hub for ${theirs?.state}`,
        );
    }
  }

  /** I5: the outbox has every acknowledged write. I9: no write is refused because of ids that the device made. */
  private checkOutbox(device: SimDevice): void {
    const { forgotten, resolved } = this.world;
    const records = device.outbox();
    for (const { id, item, verdict } of records)
      if (verdict?.body?.includes(ID_NOT_AVAILABLE) && !this.hasTwin(device, item))
        this.blame('I9', device, `made ids in ${id} that the hub takes for those of others`);
    const marks = new Set(records.map(({ item }) => markOf(item.query)));
    for (const { device: of, mark } of this.world.accepted)
      if (of === device && !marks.has(mark) && !resolved.has(mark) && !forgotten.has(mark))
        this.blame('I5', device, `has no record of ${mark}`);
  }

  /** Whether a clone with the same key made the same id at the same time. */
  private hasTwin(device: SimDevice, { ids, idKey }: PushItem): boolean {
    const others = this.world.devices.filter((each) => each !== device);
    const same = (item: PushItem) =>
      item.idKey === idKey && item.ids.some((each) => ids.includes(each));
    return others.some((each) => each.outbox().some(({ item }) => same(item)));
  }

  /** I3, I8, S8: checks the data shown. */
  private async checkView(device: SimDevice, state: ReplicaState): Promise<void> {
    const { replica } = device.direct();
    const answer = await replica.read({ query: VIEW, apiVersion: '4' });
    const view = resourceIn(answer.body);
    if (!view) {
      if (state.schema !== undefined) this.blame('I3', device, `cannot be read: ${answer.body}`);
      return;
    }
    this.checkMoney(device, state, view);
    this.checkOwn(device, state, view);
    const pending = pendingOf(device, state);
    if (!pending || device.isSpoilt) return;
    if (device.outbox().some(({ effects }) => !effects))
      this.world.count('views replayed beside writes not run');
    await this.checkReplay(device, pending, answer.body);
  }

  /** I8: the sum of all accounts is the same in any view at any time. */
  private checkMoney(device: SimDevice, { sets }: ReplicaState, { accounts }: Shown): void {
    const set = sets.find(({ id }) => id === 'accounts' || id === 'four');
    if (device.isSuspect || !set || set.error || !isLoaded(set)) return;
    const sum = accounts.reduce((total, [, { balance }]) => total + Number(balance), 0);
    if (accounts.length !== ACCOUNTS || sum !== TOTAL)
      this.blame('I8', device, `sees ${sum} in ${accounts.length} accounts`);
  }

  /** S8: a device shows its own write from its submit on, until it is refused. */
  private checkOwn(
    device: SimDevice,
    { sets, shownSeq, era, cursor }: ReplicaState,
    { marks }: Shown,
  ): void {
    const set = sets.find(({ id }) => id === 'marks');
    if (device.isSuspect || !set || !isLoaded(set)) return;
    const { lost, forgotten } = this.world;
    const seen = new Set(marks.map(([, { mark }]) => mark));
    const records = new Map(device.outbox().map((each) => [markOf(each.item.query), each]));
    for (const { device: of, mark } of this.world.accepted) {
      const record = records.get(mark);
      if (of !== device || !record || seen.has(mark) || lost.has(mark) || forgotten.has(mark))
        continue;
      if (record.state === 'refused' || record.predicted === 'refused') continue;
      // Judged under an earlier device id. Its effects come with the next pull.
      if (record.era !== era && (record.verdict?.ts ?? 0) > (cursor ?? 0)) continue;
      // Not executed here yet, or only the hub can execute it.
      const isPending = record.era === era && record.item.seq > shownSeq;
      if (isPending && !record.effects?.puts.length) continue;
      this.blame('S8', device, `does not see its own ${mark}, ${record.state}`);
    }
  }

  /** I3: the data shown equals the stored data after executing the pending writes one by one with an engine without sync. */
  private async checkReplay(
    device: SimDevice,
    pending: readonly OutboxRecord[],
    shown: string,
  ): Promise<void> {
    const memory = new SharedMemory();
    memory.version = { ...device.memory.version, sync: memory.version.sync };
    const { engine } = new EngineWorld(createMemoryStore(memory), { clock: device.clock });
    const { transactions } = engine;
    for (const { item } of pending) {
      const { query, now, ids } = item;
      const request = { secret: ROOT, query, apiVersion: '4', allows: 'write' } as const;
      const moreIds = derivedIds(item, item.idKey, sha256);
      const plan = transactions.plan(request, { now, ids: ids.map(BigInt), moreIds });
      await transactions.write((input) => transactions.execute(plan, input));
    }
    const { body } = await engine.query({
      secret: ROOT,
      query: VIEW,
      apiVersion: '4',
      allows: 'read',
    });
    this.world.count('views replayed');
    if (body === shown) return;
    this.blame('I3', device, `does not show a replay, ${difference(shown, body)}`);
  }

  /** I1: no write is executed twice, and the hub has verdicts on all writes of a device up to the last one. */
  private checkOnce(): void {
    const { memory } = this.world.hub;
    const made = new Set<string>();
    for (const { data } of documentRows(memory.version)) {
      const { mark } = data;
      if (typeof mark !== 'string') continue;
      if (made.has(mark)) this.world.problems.push(`I1: the write of ${mark} was made twice`);
      made.add(mark);
    }
    const judged = syncRows(memory.version, 'verdict').length;
    const expected = syncRows(memory.version, 'device')
      .map(({ value }) => JSON.parse(String(value)) as DeviceRecord)
      .reduce((sum, { lastSeq, forgotten }) => sum + lastSeq - forgotten, 0);
    if (judged !== expected)
      this.world.problems.push(`I1: the hub has ${judged} verdicts on ${expected} writes`);
  }
}

interface Shown {
  readonly accounts: readonly ShownDocument[];
  readonly marks: readonly ShownDocument[];
}
type ShownDocument = readonly [id: string, data: Readonly<Record<string, unknown>>];

const allOf = (name: string) => ({
  map: {
    lambda: 'ref',
    expr: [
      { select: 'id', from: { var: 'ref' } },
      { select: 'data', from: { get: { var: 'ref' } } },
    ],
  },
  collection: { paginate: { documents: coll(name) }, size: 100_000 },
});

/** Ids and data of all documents. Collections that do not exist here are empty. */
const VIEW = JSON.stringify({
  object: Object.fromEntries(
    ['accounts', 'notes', 'marks', 'names'].map((name) => [
      name,
      when({ exists: coll(name) }, { select: 'data', from: allOf(name) }, []),
    ]),
  ),
});

const resourceIn = (body: string): Shown | undefined =>
  (JSON.parse(body) as { resource?: Shown }).resource;

/** Pending writes whose effects can be replayed. Undefined if none are pending. */
function pendingOf(device: SimDevice, state: ReplicaState): readonly OutboxRecord[] | undefined {
  const { era, shownSeq } = state;
  const pending = device
    .outbox()
    .filter((record) => record.era === era && record.item.seq > shownSeq)
    // Writes without reads have their effects in the stored data, or are shown only after the hub has executed them again.
    .filter(({ reads }) => reads === 'all' || reads.rows.length + reads.ranges.length > 0);
  if (pending.length === 0) return undefined;
  return pending.filter(
    (record) =>
      // A write that was recovered from the file and not executed yet has no effects, and no other write depends on it.
      record.effects !== undefined && !isForHub(record, device) && !isForbidden(record, device),
  );
}

/** Whether the write calls the function with a role of its own, according to the schema on the device. */
function isForHub({ item }: OutboxRecord, { memory }: SimDevice): boolean {
  if (!item.query.includes('"audit"')) return false;
  const functions = schemaRows(memory.version, FUNCTIONS);
  return functions.some(({ data }) => data['name'] === 'audit' && data['role'] !== undefined);
}

/** Whether the user's role forbids the transfer: the replay runs with all rights, so it would succeed there. */
function isForbidden({ item, effects }: OutboxRecord, { memory }: SimDevice): boolean {
  if (effects?.puts.length !== 0 || !item.query.includes('"balance"')) return false;
  return schemaRows(memory.version, ROLES).some(({ body }) => body.includes('"write":false'));
}

const ROLES = 5;
const FUNCTIONS = 4;
