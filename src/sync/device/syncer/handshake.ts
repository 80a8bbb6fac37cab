/** Sends hello: it shows under which device id the hub knows this copy, and whether both have the same history. */
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

/** Refusals that concern the device id, not the copy. */
const ABOUT_DEVICE: ReadonlySet<string> = new Set<SyncRefusalCode>([
  'client_forked',
  'device_expired',
  'epoch_changed',
  'gap',
  'bad_message',
]);

export interface Session {
  /** The device id under which the hub knows this copy. */
  readonly device: DeviceId;
  /** The hub's clock minus this device's clock, µs. */
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

  /** Undefined if the copy continues under another device id. Hello must then be sent again with that id. */
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
    if (!isSameIdentity(state.actor, welcome.actor))
      throw new RefusedByHub({ code: 'needs_login', description: OTHER_IDENTITY });
    if (lastSeq > state.lastSeq) {
      await this.startOver();
      return undefined;
    }
    if (epoch !== state.epoch || lastSeq < state.settledSeq) {
      // The hub was restored. All stored writes are submitted again: the hub recognises by content those that it has executed.
      await replica.resubmitAll(fence, epoch);
      return undefined;
    }
    const { skew } = await replica.applyWelcome(fence, welcome, clock());
    if (state.isLocked) await replica.lock(fence, false);
    await replica.park(fence, false);
    return { device, skew };
  }

  /**
   * Another copy has the same device id, or this copy has lost writes. Writes that the hub has judged under the id keep their verdicts; the
   * others continue under a new id.
   */
  async startOver(): Promise<void> {
    const { rounds, scheduler } = this.parts;
    try {
      while (!(await rounds.push()).isDone) {
        if (scheduler.isStopped) return;
        await scheduler.backOffUninterrupted();
      }
    } catch (reason) {
      // The new id is safe, whatever the hub says about the old one: it recognises writes by content, so it executes none twice.
      if (!(reason instanceof RefusedByHub) || !ABOUT_DEVICE.has(reason.refusal.code)) throw reason;
    }
    await this.options.replica.moveToNewDevice(this.parts.holder.fence);
  }
}
