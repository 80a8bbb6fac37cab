/** What must hold at every moment, and at the end; numbered as in threats (e) 4. */
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

/** What was last found of a device, so that it is not looked at twice. */
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

  /** I4: forward only, within one history of the hub, as long as the device itself was not put back. */
  private checkCursor(device: SimDevice, { epoch, cursor }: ReplicaState, last: Last): void {
    if (device.losses > last.losses) Object.assign(last, NO_CONTACT, { losses: device.losses });
    if (cursor === undefined) return;
    if (epoch === last.epoch && cursor < last.cursor)
      this.blame('I4', device, `has gone back from ${last.cursor} to ${cursor}`);
    last.epoch = epoch;
    last.cursor = cursor;
  }

  /** I4, I6: what is stored is what the user sees at the hub at the cursor, as far as it was loaded. */
  private checkHeld(device: SimDevice, { epoch, cursor, sets, givenUp }: ReplicaState): void {
    if (device.isSuspect || cursor === undefined || epoch === undefined) return;
    // Rights may have changed between the cursor and the comparison: the next pull says so.
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
    // What sets held before goes when the hub has said what the new ones hold.
    if (givenUp?.length) return;
    for (const [name, text] of here)
      if (!expected.has(name)) this.blame('I6', device, `holds ${name} ${text} at ${cursor}`);
  }

  /** I2: what it takes for judged was judged so by the hub, and was the same write. */
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

  /** I5: every write that was acknowledged is in the outbox. I9: and none is refused for the ids that the device made up. */
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

  /** A clone had the same key at the same time, and made the same id first. */
  private hasTwin(device: SimDevice, { ids, idKey }: PushItem): boolean {
    const others = this.world.devices.filter((each) => each !== device);
    const same = (item: PushItem) =>
      item.idKey === idKey && item.ids.some((each) => ids.includes(each));
    return others.some((each) => each.outbox().some(({ item }) => same(item)));
  }

  /** I3, I8, S8: what is shown. */
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

  /** I8: money is neither made nor lost, in any view at any time. */
  private checkMoney(device: SimDevice, { sets }: ReplicaState, { accounts }: Shown): void {
    const set = sets.find(({ id }) => id === 'accounts' || id === 'four');
    if (device.isSuspect || !set || set.error || !isLoaded(set)) return;
    const sum = accounts.reduce((total, [, { balance }]) => total + Number(balance), 0);
    if (accounts.length !== ACCOUNTS || sum !== TOTAL)
      this.blame('I8', device, `sees ${sum} in ${accounts.length} accounts`);
  }

  /** S8: a write is seen where it was made, from then on, until it is refused. */
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
      // Judged under an id that was given up; it comes with the next pull.
      if (record.era !== era && (record.verdict?.ts ?? 0) > (cursor ?? 0)) continue;
      // Not yet run here, or only the hub can run it.
      const isPending = record.era === era && record.item.seq > shownSeq;
      if (isPending && !record.effects?.puts.length) continue;
      this.blame('S8', device, `does not see its own ${mark}, ${record.state}`);
    }
  }

  /** I3: what is shown is what is stored with the pending writes made over it, one after the other, by an engine that knows of no sync. */
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

  /** I1: no write is made twice, and of each device the hub has judged all up to the last. */
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

/** Ids and data of all there is; a collection that is not here is empty. */
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

/** Of which the model can tell what they do; undefined: nothing is pending. */
function pendingOf(device: SimDevice, state: ReplicaState): readonly OutboxRecord[] | undefined {
  const { era, shownSeq } = state;
  const pending = device
    .outbox()
    .filter((record) => record.era === era && record.item.seq > shownSeq)
    // Shown by what is stored, or not before the hub has made it again.
    .filter(({ reads }) => reads === 'all' || reads.rows.length + reads.ranges.length > 0);
  if (pending.length === 0) return undefined;
  return pending.filter(
    (record) =>
      // Found again in the file and not yet run: it shows nothing, and nothing stands on it.
      record.effects !== undefined && !isForHub(record, device) && !isForbidden(record, device),
  );
}

/** It calls the function that has rights of its own, as far as is known here. */
function isForHub({ item }: OutboxRecord, { memory }: SimDevice): boolean {
  if (!item.query.includes('"audit"')) return false;
  const functions = schemaRows(memory.version, FUNCTIONS);
  return functions.some(({ data }) => data['name'] === 'audit' && data['role'] !== undefined);
}

/** Whoever replays may do everything; the role may not transfer. */
function isForbidden({ item, effects }: OutboxRecord, { memory }: SimDevice): boolean {
  if (effects?.puts.length !== 0 || !item.query.includes('"balance"')) return false;
  return schemaRows(memory.version, ROLES).some(({ body }) => body.includes('"write":false'));
}

const ROLES = 5;
const FUNCTIONS = 4;
