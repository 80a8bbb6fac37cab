/**
 * Simulates the whole system in one process and in virtual time, from one seed: devices with tabs, a hub, and all faults between them.
 * Threats (e) 4; the invariants are numbered as there.
 */
import { isLoaded } from '../../protocol/loaded-sets.ts';
import { turn } from './clockwork.ts';
import { checkEnd } from './end.ts';
import { Invariants } from './invariants.ts';
import { disturb } from './nemesis.ts';
import type { SimDevice } from './sim-device.ts';
import { logIn, makeSchema, putRole } from './sim-schema.ts';
import { SET_CHOICES, wantedSets, work } from './workload.ts';
import { said, World, type WorldOptions } from './world.ts';

export interface SimulationOptions extends WorldOptions {
  readonly operations: number;
  /** If false, only the workload runs, over a network without faults. */
  readonly hasFaults: boolean;
  /** Faults that occur far more often than others. */
  readonly often?: string | readonly string[];
  /** How long devices may take to settle all writes when nothing fails any more, ms. Default: 1,000 s. */
  readonly patienceMs?: number;
}

export interface Outcome {
  /** How often each fault and each other event occurred. */
  readonly counts: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
  /** All events in order. Empty unless requested. */
  readonly story: readonly string[];
}

const CHECK_EVERY = 5;

export async function simulate(seed: number, options: SimulationOptions): Promise<Outcome> {
  const { operations, hasFaults } = options;
  const world = new World(seed, options);
  const { chance, clockwork, problems } = world;
  const invariants = new Invariants(world);
  world.network.isSilent = seed % 2 === 0;
  await begin(world, hasFaults);
  for (let i = 0; i < operations; i++) {
    clockwork.after(0, () => work(world));
    if (hasFaults && chance.is(0.35)) await disturb(world, options.often);
    const steps = 1 + chance.below(30);
    for (let step = 0; step < steps; step++) await clockwork.step();
    if (i % CHECK_EVERY === 0) await checkNow(world, invariants);
    if (problems.length > 0) return world;
  }
  await heal(world, invariants, options.patienceMs);
  if (problems.length === 0) await checkEnd(world);
  return world;
}

/** If a view cannot be read at all, that is a problem, too. */
async function checkNow(world: World, invariants: Invariants): Promise<void> {
  await invariants.check().catch((reason: unknown) => {
    world.problems.push(`fault: ${said(reason)}`);
  });
}

async function begin(world: World, hasFaults: boolean): Promise<void> {
  const { chance, hub, network } = world;
  const count = 2 + chance.below(3);
  const secrets = await makeSchema(hub.admin(), count, hub.rules);
  await hub.start();
  secrets.forEach((secret, user) => {
    const device = world.addDevice(user, secret, wantedSets(user, chance.below(SET_CHOICES)));
    device.openTab();
    if (chance.is(0.5)) device.openTab();
  });
  if (!hasFaults) return;
  world.isCalm = false;
  network.loss = chance.next() * 0.3;
  network.duplication = chance.next() * 0.2;
  network.delayMs = 5 + chance.next() * 400;
  network.lateness = chance.next() * 0.05;
}

const PATIENCE_MS = 1_000_000;
const STEPS_BETWEEN_LOOKS = 40;
/** Maximum virtual time between two checks: if little happens, a single step may take minutes. */
const LOOK_MS = 10_000;

/** Nothing fails any more, and there is time. */
async function heal(world: World, invariants: Invariants, patienceMs = PATIENCE_MS): Promise<void> {
  const { clockwork, devices, problems } = world;
  await mend(world);
  const end = clockwork.now + patienceMs;
  let drainedAt: number | undefined;
  let documents = world.hub.memory.version.documents;
  while (clockwork.now < end && problems.length === 0) {
    for (const device of devices) {
      const [tab] = device.tabs;
      if (tab && !device.tabs.some(({ syncer }) => syncer)) void device.lead(tab);
      if (tab && device.stored() && !device.hasPutSets)
        void device.putSets(tab.replica).catch(() => undefined);
      // The latest change of any device must reach all others.
      if (drainedAt === undefined || device.roundAt <= drainedAt) device.kick();
    }
    const next = clockwork.now + LOOK_MS;
    for (let i = 0; i < STEPS_BETWEEN_LOOKS && clockwork.now < next; i++) await clockwork.step();
    const isStill = documents === world.hub.memory.version.documents;
    documents = world.hub.memory.version.documents;
    // A tab that thaws may still write.
    if (!isStill || !(await isDrained(world))) drainedAt = undefined;
    else drainedAt ??= clockwork.now;
    const since = drainedAt ?? Infinity;
    if (devices.every(({ roundAt, isSuspect }) => roundAt > since && !isSuspect)) {
      await invariants.check();
      await changeUntold(world);
      return;
    }
  }
  if (problems.length === 0)
    problems.push(
      `I9: not drained within ${patienceMs / 1000} seconds: ${devices.map(standing).join('; ')}`,
    );
}

const UNTOLD_MS = 120_000;

/** I11: a device with an open stream over which no hints come pulls after some time nevertheless. */
async function changeUntold(world: World): Promise<void> {
  const { clockwork, counts, devices, hub, problems } = world;
  for (const device of devices) device.losesHints = true;
  const lost = counts.get('poke lost');
  let { documents } = hub.memory.version;
  let [since, end] = [Infinity, clockwork.now + UNTOLD_MS];
  hub.rules.seesShared = !hub.rules.seesShared;
  void putRole(hub.running?.world ?? hub.admin(), hub.rules);
  while (clockwork.now < end) {
    await clockwork.step();
    // The change of the role, or a late write of a tab that has thawed.
    if (documents !== hub.memory.version.documents) {
      ({ documents } = hub.memory.version);
      since = clockwork.now;
      end = since + UNTOLD_MS;
    }
    if (!devices.every(({ roundAt, isSuspect }) => roundAt > since && !isSuspect)) continue;
    if (!(await isDrained(world))) continue;
    if (counts.get('poke lost') !== lost) world.count('change untold');
    return;
  }
  problems.push(`I11: not asked for within 120 seconds: ${devices.map(standing).join('; ')}`);
}

async function mend(world: World): Promise<void> {
  const { network, hub, devices, clockwork, secrets } = world;
  world.isCalm = true;
  network.loss = 0;
  network.duplication = 0;
  network.lateness = 0;
  network.delayMs = 20;
  hub.busyUntil = clockwork.now;
  if (!hub.running) await hub.start();
  for (const { process } of [hub.running, hub.beside].flatMap((running) => running ?? [])) {
    process.doom = undefined;
    process.trouble = undefined;
    process.freeze(0);
  }
  for (const device of devices) {
    device.isUp = true;
    device.losesHints = false;
    device.buggify.pullBytes = undefined;
    device.secret = await logIn(hub.admin(), device.user);
    secrets.add(device.secret);
    for (const { process } of device.tabs) {
      process.doom = undefined;
      process.trouble = undefined;
      process.freeze(0);
    }
    if (device.tabs.length === 0) device.openTab();
  }
}

async function isDrained({ devices }: World): Promise<boolean> {
  await turn();
  return devices.every((device) => {
    const state = device.stored();
    return (
      state &&
      device.hasPutSets &&
      Math.min(state.settledSeq, state.shownSeq) >= state.lastSeq &&
      device.tabs.some(({ syncer }) => syncer?.state === 'live')
    );
  });
}

function standing(device: SimDevice): string {
  const { settledSeq, lastSeq, sets = [] } = device.stored() ?? {};
  const unloaded = sets.filter((set) => !isLoaded(set)).map(({ id }) => id);
  const { state, isSuspect, roundAt, user } = device;
  return `user ${user} ${state} ${settledSeq}/${lastSeq} ${isSuspect} ${roundAt} ${unloaded.join()}`;
}
