/**
 * The whole system in one process and virtual time: devices with tabs, a hub, and everything that can go wrong between them, all from
 * one seed. Threats (e) 4; the invariants are numbered as there.
 */
import type { SharedMemory } from '../../../store/memory.ts';
import { isLoaded, type WriteRecord } from '../../device/api.ts';
import { Chance, Clockwork, turn } from './clockwork.ts';
import { SimDevice, type NetworkFaults } from './sim-device.ts';
import { ACCOUNTS, logIn, makeSchema, memberRole, SimHub, TOTAL, userRef } from './sim-hub.ts';

export interface Campaign {
  readonly operations: number;
  /** Without: only the workload, over a whole network. */
  readonly hasFaults: boolean;
}

export interface Outcome {
  /** How often each fault fired, and each thing was done. */
  readonly counts: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
  /** What happened, in order. */
  readonly story: readonly string[];
}

/** A write that was acknowledged to the app. */
interface Accepted {
  readonly mark: string;
  readonly device: SimDevice;
  readonly id: string;
}

const coll = (name: string) => ({ collection: name });

class Simulation {
  readonly problems: string[] = [];
  readonly counts = new Map<string, number>();
  readonly story: string[] = [];
  private readonly chance: Chance;
  private readonly clockwork: Clockwork;
  private readonly hub: SimHub;
  private readonly network: NetworkFaults = { loss: 0, duplication: 0, delayMs: 30 };
  private readonly devices: SimDevice[] = [];
  private readonly accepted: Accepted[] = [];
  /** Verdicts that were told, by mark. */
  private readonly verdicts = new Map<string, string>();
  /** Devices that lost their memory, or whose hub lost its own, since: what they were told may be gone with it. */
  private readonly forgetful = new Set<SimDevice>();
  private copies: { readonly version: SharedMemory['version'] }[] = [];
  private seesShared = true;
  private marks = 0;
  private restores = 0;

  constructor(seed: number) {
    this.chance = new Chance(seed);
    this.clockwork = new Clockwork(this.chance);
    const { chance, clockwork } = this;
    this.hub = new SimHub({
      chance,
      clockwork,
      onDeath: (where) => {
        this.count(`hub dies ${where}`);
        clockwork.after(chance.next() * 5000, () => void this.hub.start());
      },
    });
  }

  async run({ operations, hasFaults }: Campaign): Promise<void> {
    const count = 2 + this.chance.below(3);
    const secrets = await makeSchema(this.hub.admin(), count);
    await this.hub.start();
    secrets.forEach((secret, user) => this.addDevice(user, secret));
    if (hasFaults) {
      this.network.loss = this.chance.next() * 0.3;
      this.network.duplication = this.chance.next() * 0.2;
      this.network.delayMs = 5 + this.chance.next() * 400;
    }
    for (let i = 0; i < operations; i++) {
      this.clockwork.after(0, () => this.work());
      if (hasFaults && this.chance.is(0.25)) await this.disturb();
      const steps = 1 + this.chance.below(30);
      for (let step = 0; step < steps; step++) await this.clockwork.step();
      if (i % 10 === 0) await this.checkViews();
      if (this.problems.length > 0) return;
    }
    await this.heal();
    if (this.problems.length === 0) await this.checkEnd();
  }

  private addDevice(user: number, secret: string): SimDevice {
    const device: SimDevice = new SimDevice(
      {
        user,
        hub: this.hub,
        chance: this.chance,
        clockwork: this.clockwork,
        network: this.network,
        count: (what) => this.count(what),
        onVerdict: (record) => this.noteVerdict(record),
        onFault: (reason) => this.problems.push(`fault: ${said(reason)}`),
      },
      secret,
    );
    device.openTab();
    if (this.chance.is(0.5)) device.openTab();
    this.devices.push(device);
    return device;
  }

  // --- the workload -------------------------------------------------------------------------------

  private work(): void {
    const device = this.chance.pick(this.devices);
    if (device.tabs.length === 0) device.openTab();
    const tab = this.chance.pick(device.tabs);
    if (!device.tabs.some(({ syncer }) => syncer)) void device.lead(tab);
    const mark = `m${++this.marks}`;
    const query = this.makeQuery(device, mark);
    void this.submit(device, tab, mark, query);
  }

  private async submit(
    device: SimDevice,
    tab: SimDevice['tabs'][number],
    mark: string,
    query: unknown,
  ): Promise<void> {
    try {
      const id = await device.submit(tab, query);
      if (id === undefined) return;
      this.count('write accepted');
      this.accepted.push({ mark, device, id });
      this.story.push(`  ${id} ${mark} of user ${device.user}`);
    } catch (reason) {
      if (!/in step with no hub/.test(said(reason))) this.problems.push(`submit: ${said(reason)}`);
    }
  }

  private makeQuery(device: SimDevice, mark: string): unknown {
    const marked = {
      create: coll('marks'),
      params: { object: { data: { object: { mark, owner: userRef(device.user) } } } },
    };
    const also = (...work: unknown[]) => ({ do: [...work, marked] });
    const kind = this.chance.below(10);
    if (kind < 4) return also(this.transfer());
    if (kind < 7) {
      const shared = this.chance.is(0.4);
      const data = { owner: userRef(device.user), shared, text: mark };
      return also({ create: coll('notes'), params: { object: { data: { object: data } } } });
    }
    if (kind === 7) return also(this.changeNote(device, mark));
    if (kind === 8) {
      // Passes here, where the trap is not, and fails at the hub.
      const trap = { exists: { ref: coll('traps'), id: '1' } };
      return { if: trap, then: { abort: 'trapped' }, else: also() };
    }
    // Writes nothing unless the hub sees more than the device does.
    return { if: { equals: [1, 1] }, then: also(), else: null };
  }

  private transfer(): unknown {
    const from = this.chance.below(ACCOUNTS);
    const to = (from + 1 + this.chance.below(ACCOUNTS - 1)) % ACCOUNTS;
    const amount = 1 + this.chance.below(30);
    const ref = (id: number) => ({ ref: coll('accounts'), id: String(id) });
    const balance = (id: number) => ({ select: ['data', 'balance'], from: { get: ref(id) } });
    const put = (id: number, value: unknown) => ({
      update: ref(id),
      params: { object: { data: { object: { balance: value } } } },
    });
    return {
      if: { gte: [balance(from), amount] },
      then: {
        let: [{ a: { subtract: [balance(from), amount] } }, { b: { add: [balance(to), amount] } }],
        in: { do: [put(from, { var: 'a' }), put(to, { var: 'b' })] },
      },
      else: null,
    };
  }

  /** Of the first note of one's own, if there is one. */
  private changeNote(device: SimDevice, mark: string): unknown {
    const mine = { match: { index: 'notes_by_owner' }, terms: userRef(device.user) };
    const first = { select: ['data', 0], from: { paginate: mine, size: 1 } };
    const change = this.chance.is(0.4)
      ? { delete: { var: 'note' } }
      : {
          update: { var: 'note' },
          params: { object: { data: { object: { text: mark, shared: this.chance.is(0.5) } } } },
        };
    return {
      if: { is_nonempty: mine },
      then: { let: [{ note: first }], in: change },
      else: null,
    };
  }

  // --- what goes wrong ----------------------------------------------------------------------------

  private async disturb(): Promise<void> {
    const { chance } = this;
    const device = chance.pick(this.devices);
    const faults: readonly (readonly [weight: number, name: string, () => void | Promise<void>])[] =
      [
        [6, 'link cut', () => void (device.isLinkUp = false)],
        [8, 'link healed', () => this.devices.forEach((each) => void (each.isLinkUp = true))],
        [3, 'tab killed', () => device.tabs[0]?.process.kill('anywhere')],
        [3, 'tab doomed', () => this.doom(device.tabs[0]?.process)],
        [2, 'hub doomed', () => this.doom(this.hub.running?.process)],
        [1, 'hub killed', () => this.hub.running?.process.kill('anywhere')],
        [2, 'second tab', () => device.openTab()],
        [2, 'two leaders', () => this.splitLeadership(device)],
        [1, 'evicted', () => this.evict(device)],
        [1, 'rolled back', () => this.rollBack(device)],
        [1, 'cloned', () => this.clone(device)],
        [2, 'copy of hub', () => void this.copies.push({ version: this.hub.memory.version })],
        [1, 'hub restored', () => this.restoreHub()],
        [2, 'role changed', () => this.changeRole()],
        [1, 'token revoked', () => this.revoke(device)],
        [3, 'login', () => this.logInAgain(device)],
        [2, 'clock step', () => void (device.clockOffsetMs += (chance.next() - 0.5) * 172_800_000)],
      ];
    const total = faults.reduce((sum, [weight]) => sum + weight, 0);
    let at = chance.below(total);
    for (const [weight, name, act] of faults) {
      at -= weight;
      if (at >= 0) continue;
      this.count(name);
      this.story.push(`  of user ${device.user}`);
      await act();
      return;
    }
  }

  private doom(process: SimDevice['tabs'][number]['process'] | undefined): void {
    if (process) process.doom = this.chance.is(0.5) ? 'before write' : 'after write';
  }

  private splitLeadership(device: SimDevice): void {
    for (const tab of device.tabs) void device.lead(tab);
  }

  /** The browser has deleted the database; the file outside it is there. */
  private evict(device: SimDevice): void {
    this.killTabs(device);
    device.memory = freshMemory(device);
    this.forgetful.add(device);
    device.openTab();
  }

  private readonly snapshots = new Map<SimDevice, SharedMemory['version']>();

  /** An earlier state of its disk comes back, without the file. */
  private rollBack(device: SimDevice): void {
    const before = this.snapshots.get(device);
    this.snapshots.set(device, device.memory.version);
    if (!before) return;
    this.killTabs(device);
    device.memory = freshMemory(device);
    device.memory.version = before;
    device.file = [];
    this.forgetful.add(device);
    device.openTab();
  }

  private clone(device: SimDevice): void {
    if (this.devices.length >= 6) return;
    const twin = this.addDevice(device.user, device.secret);
    this.killTabs(twin);
    twin.memory.version = device.memory.version;
    twin.openTab();
  }

  private killTabs(device: SimDevice): void {
    while (device.tabs.length > 0) device.tabs[0]?.process.kill('with its browser');
  }

  private async restoreHub(): Promise<void> {
    const copy = this.copies.at(-1);
    if (!copy) return;
    this.restores += 1;
    await this.hub.restore(copy.version);
    // Whoever forgot what it was told cannot offer it again.
    for (const device of this.forgetful) this.lose(device);
  }

  private lose(device: SimDevice): void {
    for (const each of this.accepted) if (each.device === device) this.lost.add(each.mark);
  }
  private readonly lost = new Set<string>();

  private async changeRole(): Promise<void> {
    this.seesShared = !this.seesShared;
    const { name: _, ...role } = memberRole(this.seesShared);
    await this.hub
      .admin()
      .ask({ update: { role: 'member' }, params: { object: { privileges: role.privileges } } });
  }

  private async revoke(device: SimDevice): Promise<void> {
    const { secret } = device;
    const admin = this.hub.admin();
    // The hub may have been restored to before this token.
    await admin.answer({ logout: false }, { secret });
  }

  private async logInAgain(device: SimDevice): Promise<void> {
    device.secret = await logIn(this.hub.admin(), device.user);
    for (const { syncer } of device.tabs) syncer?.kick();
  }

  // --- invariants ---------------------------------------------------------------------------------

  /** I8: money is neither made nor lost, in any view at any time. */
  private async checkViews(): Promise<void> {
    for (const device of this.devices) {
      const { replica } = device.direct();
      const state = await replica.state();
      const [accounts] = state?.sets ?? [];
      if (!state || state.isLocked || !accounts || accounts.error || !isLoaded(accounts)) continue;
      const sum = {
        sum: {
          map: { lambda: 'r', expr: { select: ['data', 'balance'], from: { get: { var: 'r' } } } },
          collection: {
            select: 'data',
            from: { paginate: { documents: coll('accounts') } },
          },
        },
      };
      const { body } = await replica.read({ query: JSON.stringify(sum), apiVersion: '4' });
      if (body !== `{"resource":${TOTAL}}`)
        this.problems.push(`I8: user ${device.user} sees ${body}`);
    }
  }

  /** Everything works again, and has time. */
  private async heal(): Promise<void> {
    this.network.loss = 0;
    this.network.duplication = 0;
    this.network.delayMs = 20;
    if (!this.hub.running) await this.hub.start();
    if (this.hub.running) this.hub.running.process.doom = undefined;
    for (const device of this.devices) {
      device.isLinkUp = true;
      device.secret = await logIn(this.hub.admin(), device.user);
      for (const { process } of device.tabs) process.doom = undefined;
      if (device.tabs.length === 0) device.openTab();
    }
    const end = this.clockwork.now + 1_000_000;
    while (this.clockwork.now < end) {
      for (const device of this.devices) {
        const [tab] = device.tabs;
        if (tab && !device.tabs.some(({ syncer }) => syncer)) void device.lead(tab);
        for (const each of device.tabs) each.syncer?.kick();
      }
      for (let i = 0; i < 400; i++) await this.clockwork.step();
      if (await this.isDrained()) {
        // What the last of them did must reach the others.
        for (const device of this.devices) for (const { syncer } of device.tabs) syncer?.kick();
        for (let i = 0; i < 600; i++) await this.clockwork.step();
        if (await this.isDrained()) return;
      }
    }
    this.problems.push('I9: not drained within 1,000 seconds');
  }

  private async isDrained(): Promise<boolean> {
    await turn();
    for (const device of this.devices) {
      const state = await device.direct().replica.state();
      if (!state || state.settledSeq < state.lastSeq || device.state !== 'live') return false;
    }
    return true;
  }

  private async checkEnd(): Promise<void> {
    await this.checkViews();
    await this.checkWrites();
    for (const device of this.devices) await this.checkView(device);
  }

  /** I1, I2, I5: each acknowledged write was made once, or refused and kept. */
  private async checkWrites(): Promise<void> {
    const admin = this.hub.admin();
    for (const { mark, device } of this.accepted) {
      const made = await admin.ask({
        count: { match: { index: 'marks_by_name' }, terms: mark },
      });
      const records = await device.direct().replica.writes();
      const record = records.find(({ item }) => item.query.includes(`"${mark}"`));
      const fate = record?.state ?? this.verdicts.get(mark);
      this.count(`write ${fate ?? 'forgotten'}`);
      if (this.lost.has(mark)) continue;
      const expected = fate === 'refused' ? 0 : 1;
      if (fate === undefined && this.forgetful.has(device)) continue;
      if (fate === undefined) this.problems.push(`I5: write ${mark} is in no list`);
      else if (fate === 'local' || fate === 'pushed' || fate === 'parked')
        this.problems.push(`I9: write ${mark} is still ${fate}`);
      else if (made !== expected)
        this.problems.push(`I1: write ${mark} was ${fate}, and made ${String(made)} times`);
    }
  }

  /** S4, I6: what a device shows is what its user sees at the hub. */
  private async checkView(device: SimDevice): Promise<void> {
    const { replica } = device.direct();
    const admin = this.hub.admin();
    for (const set of device.sets) {
      const all = {
        map: { lambda: 'r', expr: { get: { var: 'r' } } },
        collection: { select: 'data', from: { paginate: set, size: 10_000 } },
      };
      const there = await admin.answer(all, { secret: device.secret });
      const here = await replica.read({ query: JSON.stringify(all), apiVersion: '4' });
      if (here.body !== there.body)
        this.problems.push(
          `S4: user ${device.user} sees of ${JSON.stringify(set)}\n  here  ${here.body.slice(0, 600)}\n  there ${there.body.slice(0, 600)}`,
        );
    }
  }

  private noteVerdict(record: WriteRecord): void {
    const mark = /"mark":"(m\d+)"/.exec(record.item.query)?.[1];
    if (mark !== undefined) this.verdicts.set(mark, record.state);
    this.count(`verdict ${record.state}`);
    this.story.push(`  ${record.id} ${mark ?? ''} ${record.verdict?.body?.slice(0, 200) ?? ''}`);
  }

  private count(what: string): void {
    this.story.push(`${this.clockwork.now.toFixed(0)} ms: ${what}`);
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

const freshMemory = ({ memory }: SimDevice): SharedMemory =>
  new (memory.constructor as typeof SharedMemory)();

const said = (reason: unknown): string =>
  reason instanceof Error ? (reason.stack ?? reason.message) : String(reason);

export async function simulate(seed: number, campaign: Campaign): Promise<Outcome> {
  const simulation = new Simulation(seed);
  await simulation.run(campaign);
  return simulation;
}
