/** What the hub says unasked: that there is something to pull, and with it, when it is little, what a pull would bring. */
import type { Brought } from '../../protocol/messages.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import type { Transport } from './transport.ts';

/** A stream is good when it has shown more life than its beginning. */
const SIGNS_OF_A_GOOD_ONE = 2;

/** At most one stream at a time. */
export class Hints {
  private readonly transport: Pick<Transport, 'listen'>;
  private readonly onHint: () => void;
  /** Something may have been missed. */
  private readonly onEnd: () => void;
  private stop: (() => void) | undefined = undefined;
  private brought: Brought | undefined = undefined;
  private signs = 0;
  private signsBefore = 0;
  private isBarred = false;

  constructor(
    transport: Pick<Transport, 'listen'>,
    { onHint, onEnd }: { readonly onHint: () => void; readonly onEnd: () => void },
  ) {
    this.transport = transport;
    this.onHint = onHint;
    this.onEnd = onEnd;
  }

  get isListening(): boolean {
    return this.stop !== undefined;
  }

  /** Unless it listens already, or the last stream was good for nothing: then not before `forgive`. */
  listen(device: DeviceId): void {
    if (this.stop || this.isBarred) return;
    this.signs = 0;
    const stop = this.transport.listen(device, {
      onPoke: ({ brought }) => {
        this.signs += 1;
        this.brought = brought;
        this.onHint();
      },
      onSign: () => {
        this.signs += 1;
      },
      onEnd: () => {
        if (this.stop !== stop) return;
        this.stop = undefined;
        this.isBarred = this.signs < SIGNS_OF_A_GOOD_ONE;
        this.onEnd();
      },
    });
    this.stop = stop;
  }

  deafen(): void {
    const { stop } = this;
    this.stop = undefined;
    this.isBarred = false;
    stop?.();
  }

  /** Time has passed: another stream may be better. */
  forgive(): void {
    this.isBarred = false;
  }

  /** Whether it has listened since the last call, and heard nothing at all. */
  wasSilent(): boolean {
    const isSilent = this.isListening && this.signs === this.signsBefore;
    this.signsBefore = this.signs;
    return isSilent;
  }

  /** Of the latest hint, once. */
  take(): Brought | undefined {
    const { brought } = this;
    this.brought = undefined;
    return brought;
  }
}
