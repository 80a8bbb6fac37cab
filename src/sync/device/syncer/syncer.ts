/**
 * Keeps a replica in step with its hub: says hello, pushes what the outbox holds, pulls what changed, and does it again when something
 * moves. One at a time per copy: whoever takes the fence later stops the one before. Everything it learns is stored before it is told.
 */
import type { Micros } from '../../../values/value.ts';
import { Fenced } from '../state/api.ts';
import { Hints } from './hint-listener.ts';
import { Introduction, type Greeting } from './handshake.ts';
import { Rounds } from './rounds.ts';
import type { SyncerOptions, SyncState } from './syncer-options.ts';
import { Telling } from './progress-reporter.ts';
import { Tenure } from './fence-holder.ts';
import { Refused } from './transport.ts';
import { Waiting } from './scheduler.ts';

const CLOCK_STEP: Micros = 60 * 1_000_000;

export class Syncer {
  private readonly options: SyncerOptions;
  private readonly tenure: Tenure;
  private readonly telling: Telling;
  private readonly waiting: Waiting;
  private readonly hints: Hints;
  private readonly rounds: Rounds;
  private readonly introduction: Introduction;
  /** Undefined: hello is due. */
  private greeting: Greeting | undefined = undefined;
  private running: Promise<void> | undefined = undefined;

  constructor(options: SyncerOptions) {
    this.options = options;
    const tenure = new Tenure(options.replica);
    const telling = new Telling(options, tenure);
    const waiting = new Waiting(options);
    const hints = new Hints(options.transport, {
      onHint: () => waiting.wake(),
      onEnd: () => this.kick(),
    });
    const onVerdictTime = (ts: Micros) => this.lookAtClock(ts);
    this.rounds = new Rounds(options, { tenure, telling, hints, onVerdictTime });
    this.introduction = new Introduction(options, { tenure, rounds: this.rounds, waiting });
    this.tenure = tenure;
    this.telling = telling;
    this.waiting = waiting;
    this.hints = hints;
  }

  get state(): SyncState {
    return this.telling.state;
  }

  start(): void {
    this.running ??= this.run().catch((reason: unknown) => this.options.events.onFault(reason));
  }

  /** Something moved: a write was made, the network is back, somebody logged in. */
  kick(): void {
    this.rounds.askNext();
    this.waiting.wake();
    // The hub may be long in saying no, or say nothing: that a write waits is known here.
    if (!this.greeting) void this.telling.announce();
  }

  async stop(): Promise<void> {
    this.hints.deafen();
    this.waiting.end();
    await this.running;
  }

  private async run(): Promise<void> {
    await this.takeFence();
    while (!this.waiting.isOver) {
      try {
        await this.goOn();
      } catch (reason) {
        await this.recover(reason);
      }
    }
    this.hints.deafen();
  }

  /** A store that fails once is no reason to leave the copy without a syncer. */
  private async takeFence(): Promise<void> {
    while (!this.waiting.isOver) {
      try {
        await this.tenure.begin();
        return;
      } catch (reason) {
        this.options.events.onFault(reason);
        await this.waiting.backOffUndisturbed();
      }
    }
  }

  private async goOn(): Promise<void> {
    const { telling, waiting, hints } = this;
    if (!this.greeting) {
      if (telling.state !== 'offline') telling.enter('connecting');
      this.greeting = await this.introduction.greet();
      if (!this.greeting) return;
      telling.enter('catching-up');
    }
    waiting.beginRound();
    hints.listen(this.greeting.device);
    const isDone = await this.rounds.round();
    waiting.noteSuccess();
    if (!isDone || waiting.isOver || !this.greeting) return;
    telling.enter('live');
    await waiting.rest(hints);
  }

  /** The clock here was set, or the verdict is an old one: hello measures anew. */
  private lookAtClock(ts: Micros): void {
    if (!this.greeting) return;
    if (Math.abs(ts - (this.options.clock() + this.greeting.skew)) > CLOCK_STEP)
      this.greeting = undefined;
  }

  // --- what goes wrong ----------------------------------------------------------------------------

  /** What is done about it may fail too. */
  private async recover(reason: unknown): Promise<void> {
    // What was given up in order to stop tells nothing.
    if (this.waiting.isOver) return;
    try {
      if (reason instanceof Fenced) {
        this.waiting.end();
        this.options.events.onSuperseded();
      } else if (reason instanceof Refused) await this.meet(reason);
      else await this.loseContact(reason);
    } catch (next) {
      if (next instanceof Fenced) {
        await this.recover(next);
        return;
      }
      this.options.events.onFault(next);
      await this.waiting.backOff();
    }
  }

  private async meet({ refusal, retryAfterMs }: Refused): Promise<void> {
    const { telling, waiting } = this;
    const { replica } = this.options;
    this.leaveHub();
    switch (refusal.code) {
      case 'client_regressed':
        return this.introduction.startAnew();
      case 'client_forked':
      case 'device_taken':
        return this.introduction.rename();
      case 'epoch_changed':
      case 'gap':
        // Hello tells where the hub is.
        return waiting.backOff();
      case 'needs_login': {
        await replica.park(this.tenure.fence, true);
        const { isLocked } = await this.tenure.state();
        telling.enter(isLocked ? 'locked' : 'needs-login', refusal);
        return waiting.waitForKick();
      }
      case 'locked':
        await replica.lock(true);
        telling.enter('locked', refusal);
        return waiting.waitForKick();
      case 'upgrade_needed':
      case 'bad_message':
        telling.enter('offline', refusal);
        return waiting.waitLong();
      default:
        telling.enter('offline', refusal);
        return retryAfterMs === undefined ? waiting.backOff() : waiting.stayAway(retryAfterMs);
    }
  }

  /** No answer came: what the hub has done is found out by hello. */
  private async loseContact(reason: unknown): Promise<void> {
    this.leaveHub();
    this.options.events.onFault(reason);
    this.telling.enter('offline');
    await this.telling.tellProgress(await this.tenure.state());
    await this.waiting.retreat(reason);
  }

  private leaveHub(): void {
    this.greeting = undefined;
    this.hints.deafen();
  }
}
