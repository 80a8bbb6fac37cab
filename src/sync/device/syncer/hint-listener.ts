/** Listens for hints of the hub: that there is something to pull, and with it, when it is little, the pull itself. */
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { PiggybackedPull } from '../../protocol/messages.ts';
import type { Transport } from './transport.ts';

/** A healthy stream has shown more life than its beginning. */
const SIGNS_OF_HEALTH = 2;
/** So many of the latest are kept. */
const BROUGHT_MAX = 8;

interface HintEvents {
  /** A pull is due, or has come. */
  readonly onHint: () => void;
  /** A hint may have been missed. */
  readonly onEnd: () => void;
}

/** At most one stream at a time. */
export class HintListener {
  private readonly transport: Pick<Transport, 'listen'>;
  private readonly events: HintEvents;
  private close: (() => void) | undefined = undefined;
  private brought: readonly PiggybackedPull[] = [];
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

  /** Opens a stream, unless there is one, or the last was not healthy and `allowRetry` was not called since. */
  listen(device: DeviceId): void {
    if (this.close || this.mustWait) return;
    this.signs = 0;
    const close = this.transport.listen(device, {
      onHint: ({ brought }) => {
        this.signs += 1;
        this.brought = brought ? [...this.brought.slice(-BROUGHT_MAX), brought] : [];
        this.events.onHint();
      },
      onActivity: () => {
        this.signs += 1;
        // What was committed between the last pull and the beginning of the stream, no hint tells.
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

  /** Whether it has listened since the last call and nothing came. */
  wasSilent(): boolean {
    const isSilent = this.isListening && this.signs === this.signsBefore;
    this.signsBefore = this.signs;
    return isSilent;
  }

  /** The pulls that came with the latest hints, in order; once. None: the last came without. */
  takePulls(): readonly PiggybackedPull[] {
    const { brought } = this;
    this.brought = [];
    return brought;
  }
}
