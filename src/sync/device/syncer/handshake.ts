/** Says hello: under which device id the hub knows this copy, and whether both have the same history. */
import type { Micros } from '../../../values/value.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import { SYNC_PROTOCOL } from '../../protocol/messages.ts';
import type { SyncRefusalCode } from '../../protocol/refusals.ts';
import { isSameIdentity } from '../view/impersonation.ts';
import type { FenceHolder } from './fence-holder.ts';
import type { SyncRounds } from './rounds.ts';
import type { SyncScheduler } from './scheduler.ts';
import type { SyncerOptions } from './syncer-options.ts';
import { RefusedByHub, requireAnswer } from './transport.ts';

const OTHER_IDENTITY = 'The login belongs to another user than this copy.';

/** Refusals that are about the device id, not about the copy. */
const ABOUT_DEVICE: ReadonlySet<string> = new Set<SyncRefusalCode>([
  'client_forked',
  'device_expired',
  'epoch_changed',
  'gap',
  'bad_message',
]);

export interface Session {
  /** Under which id the hub knows this copy. */
  readonly device: DeviceId;
  /** The hub's clock minus the one here, µs. */
  readonly skew: Micros;
}

interface HandshakeParts {
  readonly holder: FenceHolder;
  readonly rounds: SyncRounds;
  readonly scheduler: SyncScheduler;
}

type Options = Pick<SyncerOptions, 'replica' | 'transport' | 'clock'>;

export class Handshake {
  private readonly options: Options;
  private readonly parts: HandshakeParts;

  constructor(options: Options, parts: HandshakeParts) {
    this.options = options;
    this.parts = parts;
  }

  /** Undefined when the copy continues under another device id: the hub must hear of that one first. */
  async perform(): Promise<Session | undefined> {
    const { replica, transport, clock } = this.options;
    const { fence } = this.parts.holder;
    const state = await this.parts.holder.state();
    const { device } = state;
    const welcome = requireAnswer(
      await transport.hello({
        protocol: SYNC_PROTOCOL,
        device,
        epoch: state.epoch,
        lastSeq: state.lastSeq,
        settled: state.settledSeq,
      }),
    );
    const { epoch, lastSeq } = welcome;
    if (state.actor && !isSameIdentity(state.actor, welcome.actor))
      throw new RefusedByHub({ code: 'needs_login', description: OTHER_IDENTITY });
    if (lastSeq > state.lastSeq) {
      await this.startOver();
      return undefined;
    }
    const isOther = state.epoch !== undefined && epoch !== state.epoch;
    if (isOther || lastSeq < state.settledSeq) {
      // The hub was restored. All kept writes are offered again: it knows by their content which of them it has made.
      await replica.resubmitAll(fence, epoch);
      return undefined;
    }
    const { skew } = await replica.applyWelcome(fence, welcome, clock());
    if (state.isLocked) await replica.lock(fence, false);
    await replica.park(fence, false);
    return { device, skew };
  }

  /**
   * This copy is not the only one with its device id, or has forgotten writes. What the hub has judged under that id stays; the rest
   * continues under a new one.
   */
  async startOver(): Promise<void> {
    const { rounds, scheduler } = this.parts;
    try {
      while (!(await rounds.push()).isDone) {
        if (scheduler.isStopped) return;
        await scheduler.backOffUninterrupted();
      }
    } catch (reason) {
      // Under a new id no write is made twice, whatever was said of the old one: the hub knows a write by its content.
      if (!(reason instanceof RefusedByHub) || !ABOUT_DEVICE.has(reason.refusal.code)) throw reason;
    }
    await rounds.takeNewDevice();
  }
}
