/**
 * Keeps a replica in sync with its hub: sends hello, pushes the outbox, pulls changes, and repeats this after each event. There is one
 * active syncer per copy: one that takes the fence later stops the previous one. Data is stored before it is reported.
 */
import { Refusal } from '../../../errors.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { Micros } from '../../../values/value.ts';
import { Fenced } from '../state/fence.ts';
import { FenceHolder } from './fence-holder.ts';
import { Handshake, type Session } from './handshake.ts';
import { HintListener } from './hint-listener.ts';
import { ProgressReporter } from './progress-reporter.ts';
import { SyncRounds } from './rounds.ts';
import { SyncScheduler } from './scheduler.ts';
import type { SyncerOptions } from './syncer-options.ts';
import type { SyncState } from '../../../states.ts';
import { ForeignAnswer, RefusedByHub } from './transport.ts';

const CLOCK_STEP: Micros = 60 * 1_000_000;

export class Syncer {
  private readonly options: SyncerOptions;
  private readonly holder: FenceHolder;
  private readonly reporter: ProgressReporter;
  private readonly scheduler: SyncScheduler;
  private readonly hints: HintListener;
  private readonly rounds: SyncRounds;
  private readonly handshake: Handshake;
  /** Undefined: hello must be sent. */
  private session: Session | undefined = undefined;
  private running: Promise<void> | undefined = undefined;

  constructor(options: SyncerOptions) {
    this.options = options;
    const holder = new FenceHolder(options.replica);
    const reporter = new ProgressReporter(options, holder);
    const scheduler = new SyncScheduler(options);
    const hints = new HintListener(options.transport, {
      onHint: () => scheduler.wake(),
      onEnd: () => this.kick(),
    });
    const onVerdictTime = (ts: Micros) => this.checkClock(ts);
    this.rounds = new SyncRounds(options, { holder, reporter, hints, onVerdictTime });
    this.handshake = new Handshake(options, { holder, rounds: this.rounds, scheduler });
    this.holder = holder;
    this.reporter = reporter;
    this.scheduler = scheduler;
    this.hints = hints;
  }

  get state(): SyncState {
    return this.reporter.state;
  }

  start(): void {
    this.running ??= this.run().catch((reason: unknown) => this.options.events.onFault(reason));
  }

  /** An event: a write was submitted, the network is back, or a user has logged in. */
  kick(): void {
    this.rounds.pullNext();
    this.scheduler.wake();
    // Reports at once that a write is waiting, because the hub may take long to answer.
    if (!this.session) void this.reporter.reportNow();
  }

  async stop(): Promise<void> {
    this.hints.stop();
    this.scheduler.stop();
    await this.running;
  }

  private async run(): Promise<void> {
    await this.takeFence();
    while (!this.scheduler.isStopped) {
      try {
        await this.step();
      } catch (reason) {
        await this.recover(reason);
      }
    }
    this.hints.stop();
  }

  /** Retries until it succeeds: an error of the store must not leave the copy without a syncer. */
  private async takeFence(): Promise<void> {
    while (!this.scheduler.isStopped) {
      try {
        await this.holder.acquire();
        return;
      } catch (reason) {
        this.tellFault(reason);
        await this.scheduler.backOffUninterrupted();
      }
    }
  }

  private async step(): Promise<void> {
    const { reporter, scheduler, hints, rounds } = this;
    if (!this.session) {
      // Before hello is sent, so that a login while hello is on its way wakes the syncer even if the hub refuses this hello.
      scheduler.beginRound();
      if (reporter.state !== 'offline') reporter.setState('connecting');
      this.session = await this.handshake.perform();
      // Pauses before hello with the new id. Between two hubs with different data, the copy would otherwise switch in a tight loop.
      if (!this.session) return scheduler.backOff();
      // Pulls next, because an earlier hint does not cover what has happened since.
      this.kick();
      reporter.setState('catching-up');
    }
    // A pull that was sent in advance does not cover later events, so they must still count as new.
    if (rounds.askedAheadAt === undefined) scheduler.beginRound();
    hints.listen(this.session.device);
    const isDone = await rounds.round();
    scheduler.onSuccess();
    if (!isDone || scheduler.isStopped || !this.session) return;
    reporter.setState('live');
    await scheduler.idle(hints);
  }

  /** If the device's clock was set, or the verdict is an old one, hello must measure the time difference again. */
  private checkClock(ts: Micros): void {
    if (!this.session) return;
    if (Math.abs(ts - (this.options.clock() + this.session.skew)) > CLOCK_STEP)
      this.session = undefined;
  }

  // --- failures -----------------------------------------------------------------------------------

  /** Handles an error. The handling itself may fail, too. */
  private async recover(reason: unknown): Promise<void> {
    // After `stop()`, requests fail because they were aborted.
    if (this.scheduler.isStopped) return;
    try {
      if (reason instanceof Fenced) {
        this.scheduler.stop();
        this.options.events.onSuperseded();
      } else if (reason instanceof RefusedByHub) await this.handleRefusal(reason);
      else await this.handleNoAnswer(reason);
    } catch (next) {
      if (next instanceof Fenced || next instanceof RefusedByHub) return this.recover(next);
      this.tellFault(next);
      await this.scheduler.backOff();
    }
  }

  private async handleRefusal(refused: RefusedByHub): Promise<void> {
    const { reporter, scheduler } = this;
    const { refusal } = refused;
    const { replica } = this.options;
    this.disconnect();
    switch (refusal.code) {
      case 'client_regressed':
        await this.handshake.startOver();
        break;
      case 'device_expired':
        reporter.setState('offline', refusal);
        await this.startAnew();
        break;
      case 'client_forked':
      case 'device_taken':
        await replica.moveToNewDevice(this.holder.fence);
        break;
      case 'epoch_changed':
      case 'gap':
        // The hello that follows finds the state of the hub.
        break;
      case 'locked':
      case 'needs_login': {
        await replica[refusal.code === 'locked' ? 'lock' : 'park'](this.holder.fence, true);
        const { isLocked } = await this.holder.state();
        reporter.setState(isLocked ? 'locked' : 'needs-login', refusal);
        return scheduler.waitUntilWoken();
      }
      case 'too_many_devices':
      case 'upgrade_needed':
      case 'bad_message':
        reporter.setState('offline', refusal);
        return scheduler.waitLong();
      default:
        // The hub cannot answer now (its disk is full, its database is down), or a server before it has refused the request.
        reporter.setState('offline', refusal);
        return scheduler.backOffAfter(refused);
    }
    await scheduler.backOff();
  }

  /** A hub with recent contact cannot have expired the device: it has lost its latest commits, and with them writes of the device. */
  private async startAnew(): Promise<void> {
    const { replica, clock } = this.options;
    const { cursor = 0, skew, epoch } = await this.holder.state();
    const isRecent = clock() + skew - cursor < SYNC_LIMITS.devicesKeptMicros / 2;
    if (isRecent) await replica.resubmitAll(this.holder.fence, epoch);
    else await replica.moveToNewDevice(this.holder.fence);
  }

  /** It is unknown whether the hub has processed the request. The hello that follows finds out. */
  private async handleNoAnswer(reason: unknown): Promise<void> {
    this.disconnect();
    this.tellFault(reason);
    await this.reporter.report(await this.holder.state());
    await this.scheduler.backOffAfter(reason);
  }

  /** Reports an error, and its reason if the device (for example, no storage left) or a server in between is the cause. */
  private tellFault(reason: unknown): void {
    this.options.events.onFault(reason);
    const isTold = reason instanceof Refusal || reason instanceof ForeignAnswer;
    const told = isTold ? { code: reason.code, description: reason.message } : undefined;
    this.reporter.setState('offline', told);
  }

  private disconnect(): void {
    this.session = undefined;
    this.hints.stop();
  }
}
