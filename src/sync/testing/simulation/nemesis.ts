/** Random faults, one at a time. Each kind has a name, and each must occur at least once in a campaign. */
import { isLoaded } from '../../protocol/loaded-sets.ts';
import { pruneChanges } from '../../hub/pruning/prune-changes.ts';
import { HUB_PLACES, TAB_PLACES } from './instrumented.ts';
import { documentRows } from './rows-in.ts';
import type { SimDevice } from './sim-device.ts';
import { coll, data, logIn, putFunctions, putRole, putTextIndex, userRef } from './sim-schema.ts';
import { SET_CHOICES, transfer, wantedSets } from './workload.ts';
import type { World } from './world.ts';

type Fault = readonly [
  weight: number,
  name: string,
  act: (world: World, device: SimDevice) => void | Promise<void>,
];

/** Thrown by a fault that cannot be applied at the moment. It is not counted. */
class Nothing extends Error {}
const nothing = (): never => {
  throw new Nothing();
};

const FAULTS: readonly Fault[] = [
  [6, 'link cut', (_, device) => void (device.isUp = false)],
  [3, 'hints lost', (_, device) => void (device.losesHints = true)],
  [8, 'links healed', healLinks],
  [2, 'tab killed', (_, { tabs }) => (tabs[0] ?? nothing()).process.kill('anywhere')],
  [10, 'tab doomed', doomTab],
  [3, 'tab frozen', freezeTab],
  [5, 'hub doomed', doomHub],
  [1, 'hub killed', ({ hub }) => (hub.running ?? nothing()).process.kill('anywhere')],
  [2, 'hub busy', ({ hub, clockwork }) => void (hub.busyUntil = clockwork.now + 3000)],
  [3, 'store of the hub fails', failHub],
  [2, 'store of a tab fails', failTab],
  [2, 'second tab', (_, device) => void device.openTab()],
  [3, 'two leaders', splitLeadership],
  [2, 'evicted', evict],
  [2, 'rolled back', rollBack],
  [1, 'cloned', clone],
  [3, 'copy of the hub', ({ copies, hub }) => void copies.push(hub.copy())],
  [2, 'hub restored', restoreHub],
  [3, 'role changed', changeRole],
  [1, 'token revoked', revoke],
  [2, 'token that expires', expire],
  [4, 'login', (world, device) => logInAgain(world, device)],
  [
    2,
    'clock step',
    ({ chance }, device) => void (device.clockOffsetMs += (chance.next() - 0.5) * 172_800_000),
  ],
  [
    3,
    'small pulls',
    ({ chance }, device) => void (device.buggify.pullBytes = chance.pick([1, 100, 400])),
  ],
  [2, 'large pulls', (_, device) => void (device.buggify.pullBytes = undefined)],
  [2, 'small pushes', (_, device) => void (device.buggify.pushItems = 1)],
  [1, 'large pushes', (_, device) => void (device.buggify.pushItems = undefined)],
  [2, 'other sets', wantOther],
  [2, 'function changed', changeFunction],
  [2, 'function gets or loses its role', changeAudit],
  [2, 'index made or dropped', changeIndex],
  [4, 'administrator writes', administer],
  [1, 'log of changes cut', cutLog],
  [2, 'row spoilt', spoil],
];

/** Faults of a hub with several processes. Used only on request, because the seeds that detect planted faults were chosen without them. */
const CLUSTER_FAULTS: readonly Fault[] = [
  [3, 'second hub process', besideHub],
  [2, 'hub frozen', freezeHub],
];

const namesOf = (faults: readonly Fault[]): readonly string[] => faults.map(([, name]) => name);
export const FAULT_NAMES = namesOf(FAULTS);
export const CLUSTER_FAULT_NAMES = namesOf(CLUSTER_FAULTS);

/** Factor for the weight of a fault that was asked for. */
const OFTEN = 20;

/** @param often names of faults that should occur often */
export async function disturb(world: World, often: string | readonly string[] = []): Promise<void> {
  const { chance } = world;
  const names = [often].flat();
  const weightOf = ([weight, name]: Fault): number =>
    names.includes(name) ? weight * OFTEN : weight;
  const device = chance.pick(world.devices);
  if (chance.is(0.2)) world.snapshots.set(device, snapshotOf(device));
  const isCluster = names.some((name) => CLUSTER_FAULT_NAMES.includes(name));
  const faults = isCluster ? [...FAULTS, ...CLUSTER_FAULTS] : FAULTS;
  let at = chance.below(faults.reduce((sum, fault) => sum + weightOf(fault), 0));
  for (const fault of faults) {
    at -= weightOf(fault);
    if (at >= 0) continue;
    const [, name, act] = fault;
    world.tell(() => `${device.name}: ${name}?`);
    try {
      await act(world, device);
      world.count(name);
    } catch (reason) {
      if (!(reason instanceof Nothing)) throw reason;
    }
    return;
  }
}

function healLinks({ devices }: World): void {
  for (const device of devices) {
    device.isUp = true;
    device.losesHints = false;
  }
}

// --- processes ------------------------------------------------------------------------------------

async function doomTab(world: World, device: SimDevice): Promise<void> {
  const tab = device.tabs.find(({ syncer }) => syncer) ?? device.tabs[0] ?? nothing();
  const places = device.disk.places;
  const isOfDisk = places.length > 0 && world.chance.is(0.5);
  const place = world.chance.pick(isOfDisk ? places : TAB_PLACES);
  tab.process.doom = place;
  // Some of these places are rarely reached, so something is done that leads to them.
  const [what] = place.split(' ');
  if (what === 'stage') device.buggify.pullBytes = 1;
  else if (what === 'check' || what === 'compared' || what === 'recover') await changeRole(world);
  else if (what === 'move') clone(world, device);
  else if (what === 'resubmit') await restoreHub(world);
}

function doomHub({ chance, hub }: World): void {
  const { process } = hub.running ?? nothing();
  process.doom = chance.pick(HUB_PLACES);
}

/** Another tab takes the lead in the meantime, so this tab thaws with an outdated fencing token. */
function freezeTab({ chance }: World, device: SimDevice): void {
  const tab = device.tabs.find(({ syncer }) => syncer) ?? nothing();
  tab.process.freeze(2000 + chance.next() * 60_000);
  void device.lead(device.openTab());
}

/** Starts a second process, or kills it if there is one. */
function besideHub({ hub }: World): void {
  if (hub.beside) hub.beside.process.kill('anywhere');
  else if (hub.running) hub.startBeside();
  else nothing();
}

/** When the process thaws, it handles old requests that the devices have repeated in the meantime, perhaps to the other process. */
function freezeHub({ chance, hub }: World): void {
  const { process } = hub.beside ?? hub.running ?? nothing();
  process.freeze(2000 + chance.next() * 40_000);
}

function failHub({ chance, hub }: World): void {
  const { process } = hub.running ?? nothing();
  process.trouble = chance.is(0.5) ? 'before' : 'after';
}

function failTab({ chance }: World, device: SimDevice): void {
  const { process } = device.tabs[0] ?? nothing();
  process.trouble = chance.is(0.5) ? 'before' : 'after';
}

function splitLeadership(_: World, device: SimDevice): void {
  if (device.tabs.length < 2) device.openTab();
  for (const tab of device.tabs) void device.lead(tab);
}

// --- what a device has stored ---------------------------------------------------------------------

const snapshotOf = ({ disk, isSpoilt }: SimDevice) => ({ disk: disk.copy(), isSpoilt });

/** The browser has deleted the database. The outbox copy outside of it remains. */
async function evict(world: World, device: SimDevice): Promise<void> {
  await noteUnoffered(world, device);
  device.killTabs();
  device.disk = world.emptyDisk();
  device.isSpoilt = false;
  device.comparedAt = 0;
  world.noteLoss(device);
  device.openTab();
}

/** If the hub was restored and the device loses its data before they meet, the device's confirmed writes may be lost. */
async function noteUnoffered(world: World, device: SimDevice): Promise<void> {
  const state = await device.direct().replica.state();
  if (state && state.epoch === world.hub.epoch && state.settledSeq >= state.lastSeq) return;
  for (const { mark, device: of } of world.accepted) if (of === device) world.lost.add(mark);
}

/** The disk is set back to an earlier state, without the outbox copy. */
async function rollBack(world: World, device: SimDevice): Promise<void> {
  const before = world.snapshots.get(device) ?? nothing();
  await noteUnoffered(world, device);
  device.killTabs();
  device.disk = before.disk.copy();
  device.isSpoilt = before.isSpoilt;
  device.file = [];
  world.noteLoss(device);
  device.openTab();
}

function clone(world: World, device: SimDevice): void {
  if (world.devices.length >= 6) return nothing();
  const { user, secret, wanted, disk } = device;
  const twin = world.addDevice(user, secret, wanted, disk.copy());
  twin.isSpoilt = device.isSpoilt;
  twin.comparedAt = device.comparedAt;
  twin.openTab();
  world.tell(() => `${twin.name} is a copy of ${device.name}`);
}

/** Changes a document on the device so that it differs from the hub's. The hub does not know. */
async function spoil(world: World, device: SimDevice): Promise<void> {
  const { chance, hub } = world;
  const rows = documentRows(device.memory.version);
  const state = device.stored();
  if (rows.length === 0 || !state?.sets.every(isLoaded)) return nothing();
  device.killTabs();
  const { key } = chance.pick(rows);
  device.disk = device.disk.copy();
  await device.disk
    .direct()
    .write(async (tx) => tx.apply({ puts: [], deletes: [{ space: 'documents', key }] }), {
      durability: 'relaxed',
    });
  device.isSpoilt = true;
  device.openTab();
  // Changes the role, because only a change of rights makes the hub ask for a comparison.
  await putRole(hub.admin(), hub.rules);
}

async function wantOther({ chance }: World, device: SimDevice): Promise<void> {
  device.wanted = wantedSets(device.user, chance.below(SET_CHOICES));
  const [tab] = device.tabs;
  if (!tab || !device.stored()) return nothing();
  void device.putSets(tab.replica).then(
    () => device.kick(),
    () => undefined,
  );
}

// --- the hub --------------------------------------------------------------------------------------

async function restoreHub(world: World): Promise<void> {
  const copy = world.copies.at(-1) ?? nothing();
  await world.hub.restore(copy);
  // Writes that their device has forgotten cannot be submitted again.
  for (const mark of world.forgotten) world.lost.add(mark);
}

async function changeRole({ chance, hub }: World): Promise<void> {
  if (chance.is(0.8)) hub.rules.seesShared = !hub.rules.seesShared;
  else hub.rules.mayTransfer = !hub.rules.mayTransfer;
  await putRole(hub.admin(), hub.rules);
}

async function changeFunction({ hub }: World): Promise<void> {
  hub.rules.tally += 1;
  await putFunctions(hub.admin(), hub.rules);
}

async function changeAudit({ hub }: World): Promise<void> {
  hub.rules.isAuditOwn = !hub.rules.isAuditOwn;
  await putFunctions(hub.admin(), hub.rules);
}

async function changeIndex({ hub }: World): Promise<void> {
  hub.rules.hasTextIndex = !hub.rules.hasTextIndex;
  await putTextIndex(hub.admin(), hub.rules);
}

/** A change by the administrator, directly at the hub and with all rights. */
async function administer(world: World): Promise<void> {
  const { chance, hub, devices } = world;
  const notes = { documents: coll('notes') };
  const first = { select: ['data', 0], from: { paginate: notes, size: 1 } };
  const owner = userRef(chance.pick(devices).user);
  const changes = [
    transfer(world),
    { update: first, params: data({ owner }) },
    { update: first, params: data({ shared: chance.is(0.5) }) },
    { delete: first },
    { create: coll('notes'), params: data({ owner, shared: chance.is(0.5), text: 'again' }) },
  ];
  const { status } = await hub.admin().answer(chance.pick(changes));
  if (status >= 300) nothing();
}

async function cutLog({ hub, chance, clockwork }: World): Promise<void> {
  const before = hub.clock() - chance.next() * clockwork.now * 1000;
  const { store, engine } = hub.admin();
  const pause = () => Promise.resolve();
  const host = { store, transactions: engine.transactions, clock: hub.clock, pause };
  const count = await pruneChanges(host, before);
  if (count === 0) nothing();
}

// --- credentials ------------------------------------------------------------------------------------

async function revoke({ hub }: World, { secret }: SimDevice): Promise<void> {
  // The hub may have been restored to a state before this token.
  await hub.admin().answer({ logout: false }, { secret });
}

async function expire(world: World, device: SimDevice): Promise<void> {
  await logInAgain(world, device, 5 + world.chance.below(30));
}

async function logInAgain(world: World, device: SimDevice, seconds?: number): Promise<void> {
  device.secret = await logIn(world.hub.admin(), device.user, seconds);
  world.secrets.add(device.secret);
  device.kick();
}
