/** Hello: under which id this copy goes at its hub, and whether both have the same history. */
import type { Micros } from '../../../values/value.ts';
import { SYNC_PROTOCOL } from '../../protocol/messages.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { SyncRefusalCode } from '../../protocol/refusals.ts';
import { isSameIdentity } from '../view/impersonation.ts';
import type { Rounds } from './rounds.ts';
import type { SyncerOptions } from './syncer-options.ts';
import type { Tenure } from './fence-holder.ts';
import { requireAnswer, Refused } from './transport.ts';
import type { Waiting } from './scheduler.ts';

const ANOTHER = 'The login belongs to another user than this copy.';

/** Refusals of the id a copy has, not of the copy. */
const OF_THE_ID: ReadonlySet<string> = new Set<SyncRefusalCode>([
  'client_forked',
  'epoch_changed',
  'gap',
  'bad_message',
]);

/** Under which id the hub knows this copy, and the hub's clock minus the one here, µs. */
export interface Greeting {
  readonly device: DeviceId;
  readonly skew: Micros;
}

interface IntroductionParts {
  readonly tenure: Tenure;
  readonly rounds: Rounds;
  readonly waiting: Waiting;
}

export class Introduction {
  private readonly options: Pick<SyncerOptions, 'replica' | 'transport' | 'clock'>;
  private readonly parts: IntroductionParts;

  constructor(
    options: Pick<SyncerOptions, 'replica' | 'transport' | 'clock'>,
    parts: IntroductionParts,
  ) {
    this.options = options;
    this.parts = parts;
  }

  /** Undefined when the device goes on under another id: the hub must be told that one. */
  async greet(): Promise<Greeting | undefined> {
    const { replica, transport, clock } = this.options;
    const { fence } = this.parts.tenure;
    const state = await this.parts.tenure.state();
    const { device } = state;
    const welcome = requireAnswer(
      await transport.hello({
        protocol: SYNC_PROTOCOL,
        device,
        epoch: state.epoch,
        lastSeq: state.lastSeq,
      }),
    );
    const { epoch, lastSeq } = welcome;
    if (state.actor && !isSameIdentity(state.actor, welcome.actor))
      throw new Refused({ code: 'needs_login', description: ANOTHER }, undefined);
    if (lastSeq > state.lastSeq) {
      await this.startAnew();
      return undefined;
    }
    const isOther = state.epoch !== undefined && epoch !== state.epoch;
    if (isOther || lastSeq < state.settledSeq) {
      // The hub is not where it was. All that is kept here is offered again: it knows by itself what it has made.
      await replica.reenter(fence, epoch);
      return undefined;
    }
    const { skew } = await replica.greet(fence, welcome, clock());
    if (state.isLocked) await replica.lock(false);
    await replica.park(fence, false);
    return { device, skew };
  }

  /**
   * This copy is not the only one under its id, or has forgotten what it did. What the hub has judged under that id is judged; the rest
   * goes on under a new one.
   */
  async startAnew(): Promise<void> {
    const { rounds, waiting } = this.parts;
    try {
      while (!(await rounds.push()).isPushed) {
        if (waiting.isOver) return;
        await waiting.backOffUndisturbed();
      }
    } catch (reason) {
      // Whatever it says of the old id: under a new one nothing is made twice, the hub knows a write by what it is.
      if (!(reason instanceof Refused) || !OF_THE_ID.has(reason.refusal.code)) throw reason;
    }
    await this.rename();
  }

  async rename(): Promise<void> {
    await this.options.replica.rename(this.parts.tenure.fence);
  }
}
