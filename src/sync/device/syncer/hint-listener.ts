/** Listens for change hints of the hub. A hint says that there is something to pull; if that is small, the hint contains it. */
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { PiggybackedPull } from '../../protocol/messages.ts';
import type { Transport } from './transport.ts';

/** A stream counts as healthy if it had activity after its opening. */
const SIGNS_OF_HEALTH = 2;
/** Maximum number of piggybacked pulls that are kept. */
const PULLS_MAX = 8;

interface HintEvents {
  /** A pull is due, or a hint contained one. */
  readonly onHint: () => void;
  /** The stream has ended, so a hint may have been missed. */
  readonly onEnd: () => void;
}

/** Has at most one stream at a time. */
export class HintListener {
  private readonly transport: Pick<Transport, 'listen'>;
  private readonly events: HintEvents;
  private close: (() => void) | undefined = undefined;
  private pulls: readonly PiggybackedPull[] = [];
  private signs = 0;
  private signsBefore = 0;
  private mustWait = false;

  constructor(transport: Pick<Transport, 'listen'>, events: HintEvents) {
    this.transport = transport;
    this.events = events;
  }

  get isListening(): boolean {
    return this.close !== undefined;
  }

  /** Opens a stream, unless there is one, or the last one was not healthy and `allowRetry` has not been called since. */
  listen(device: DeviceId): void {
    if (this.close || this.mustWait) return;
    this.signs = 0;
    const close = this.transport.listen(device, {
      onHint: ({ brought }) => {
        this.signs += 1;
        this.pulls = brought ? [...this.pulls.slice(1 - PULLS_MAX), brought] : [];
        this.events.onHint();
      },
      onActivity: () => {
        this.signs += 1;
        // No hint tells of commits between the last pull and the opening of the stream, so a pull is due.
        if (this.signs === 1) this.events.onHint();
      },
      onEnd: () => {
        if (this.close !== close) return;
        this.close = undefined;
        this.mustWait = this.signs < SIGNS_OF_HEALTH;
        this.events.onEnd();
      },
    });
    this.close = close;
  }

  stop(): void {
    const { close } = this;
    this.close = undefined;
    this.mustWait = false;
    close?.();
  }

  allowRetry(): void {
    this.mustWait = false;
  }

  /** Whether a stream is open that had no activity since the last call. */
  wasSilent(): boolean {
    const isSilent = this.isListening && this.signs === this.signsBefore;
    this.signsBefore = this.signs;
    return isSilent;
  }

  /** The pulls in the latest hints, in order. Each is returned once. Empty if the last hint had no pull. */
  takePulls(): readonly PiggybackedPull[] {
    const { pulls } = this;
    this.pulls = [];
    return pulls;
  }
}
