/** Runs two tabs on one medium with a seed, and kills and freezes them and lets calls fail, in any order. */
import { RandomSource } from '../../../engine/testing/random-source.ts';
import { claimOf, tablesOf } from '../../manifest.ts';
import { MediumData } from '../memory-medium.ts';
import { Crossings } from './crossings.ts';
import type { PlantedFault } from './faults.ts';
import { Model } from './model.ts';
import { must, mustEqual } from './must.ts';
import { Scheduler } from './scheduler.ts';
import type { SimWorld } from './sim-medium.ts';
import { SimTab, type SimOrigin } from './sim-tab.ts';

const TABS = 2;
const STEPS = 12;
const KILL = 0.006;
const FREEZE = 0.008;
const THAW = 0.02;
/** Probability that the second tab is opened. */
const OPEN = 0.03;
/** Probability that a message between tabs arrives. */
const HEARD = 0.7;
const RECEIVED_TWICE = 0.1;
/** Maximum number of steps of the scheduler. */
const STEPS_MAX = 20_000;

export class Simulation {
  readonly crossings = new Crossings();
  private readonly world: SimWorld;
  private readonly random: RandomSource;
  private readonly model = new Model();
  private readonly origin: SimOrigin = {
    lock: { holder: undefined },
    broadcast: (from, appended) => {
      for (const tab of this.tabs) {
        if (tab === from || !this.random.chance(HEARD)) continue;
        void tab.receive(appended);
        if (this.random.chance(RECEIVED_TWICE)) void tab.receive(appended);
      }
    },
    leaseTerm: (tab) => {
      if (this.tabs.length !== 1 || this.tabs[0] !== tab) return undefined;
      this.crossings.note('a tab held the lease');
      return this.opened;
    },
  };
  private tabs: SimTab[] = [];
  private opened = 0;

  constructor(seed: number, fault?: PlantedFault) {
    this.random = new RandomSource(seed);
    this.world = {
      data: new MediumData(),
      scheduler: new Scheduler(this.random),
      random: this.random,
      crossings: this.crossings,
      fault,
      flipped: 0,
      isCalm: false,
    };
  }

  /** @throws the violation that a tab has found */
  async run(): Promise<Crossings> {
    this.openTab();
    for (let step = 0; ; step += 1) {
      if (step > STEPS_MAX) throw new Error('they never come to an end');
      if (!(await this.world.scheduler.step()) && !this.thawAll()) break;
      const failed = this.tabs.find(({ failure }) => failure !== undefined);
      if (failed) throw failed.failure;
      this.tabs = this.tabs.filter(({ isDone }) => !isDone);
      if (this.opened < TABS && (this.tabs.length === 0 || this.random.chance(OPEN)))
        this.openTab();
      this.disturb();
    }
    await this.checkEnd();
    return this.crossings;
  }

  private openTab(): void {
    this.opened += 1;
    const tab = new SimTab(`tab ${this.opened}`, this.world, this.model, this.origin);
    this.tabs.push(tab);
    void tab.run(STEPS);
  }

  private disturb(): void {
    const { random } = this;
    const tab = this.tabs.length > 0 ? random.pick(this.tabs) : undefined;
    if (!tab) return;
    if (tab.state === 'frozen') {
      if (random.chance(THAW)) this.thaw(tab);
    } else if (random.chance(KILL)) this.kill(tab);
    else if (random.chance(freezeOf(tab))) tab.state = 'frozen';
  }

  private thaw(tab: SimTab): void {
    tab.state = 'running';
    tab.medium.hasThawed = true;
  }

  private thawAll(): boolean {
    const frozen = this.tabs.filter(({ state }) => state === 'frozen');
    for (const tab of frozen) this.thaw(tab);
    return frozen.length > 0;
  }

  private kill(tab: SimTab): void {
    const { crossings, scheduler } = this.world;
    const kinds = scheduler.kindsOf(tab);
    if (kinds.includes('append commit asked')) crossings.note('killed with a commit asked for');
    if (kinds.includes('append commit done'))
      crossings.note('killed with a commit stored and not answered');
    if (kinds.some((kind) => kind.startsWith('read'))) crossings.note('killed while reading');
    if (tab.medium.phase === 'put') crossings.note('killed between putting blocks and the flip');
    if (tab.medium.phase === 'flipped') crossings.note('killed between the flip and the cut');
    tab.state = 'dead';
    this.tabs = this.tabs.filter((each) => each !== tab);
    this.openTab();
  }

  /** Checks that the last tab finds the state of the model, without a missing acknowledged write. */
  private async checkEnd(): Promise<void> {
    this.world.isCalm = true;
    const tab = new SimTab('the last tab', this.world, this.model, this.origin);
    const end = (async () => {
      const store = await tab.open();
      const name = await tab.check(store);
      mustEqual(this.model.lost(name), [], 'writes that are lost');
      await store.flush();
      await store.sweep();
      await tab.check(store);
      mustEqual(await store.verify(), [], 'what verify() finds');
      await store.close();
      if (tab.failure !== undefined) throw tab.failure;
      this.checkBlocks(store);
    })();
    const over = end.finally(() => (tab.isDone = true));
    over.catch(() => undefined);
    for (let step = 0; !tab.isDone && step < STEPS_MAX; step += 1)
      await this.world.scheduler.step();
    await over;
  }

  /** After a sweep every stored block belongs to a table. */
  private checkBlocks(store: { readonly manifest: Parameters<typeof tablesOf>[0] }): void {
    const { manifest } = store;
    const claims = new Set([...tablesOf(manifest).map(claimOf), ...manifest.retired.map(claimOf)]);
    if (this.world.fault) return;
    for (const id of this.world.data.blocks.keys())
      must(claims.has(claimOf({ first: id })), `block ${id} is an orphan`);
  }
}

/** Freezes more often during a flush or merge, where more can go wrong. */
const freezeOf = ({ medium: { phase } }: SimTab): number =>
  phase === 'claimed' || phase === 'put' ? 5 * FREEZE : FREEZE;
