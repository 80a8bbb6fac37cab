/** Sends hints to one listening device, each with the answer to its next pull if that is small. */
import type { ChangeHint } from '../../protocol/hints.ts';
import type { PiggybackedPull, Pull, Pulled } from '../../protocol/messages.ts';

/** Larger answers are not sent with hints. */
const PIGGYBACKED_BYTES = 64 * 1024;

export interface HintSenderOptions {
  /** The expected next pull of the device. Undefined: unknown. */
  readonly nextPull: () => Pull | undefined;
  /** Whether this is the device's only stream. Another one may have been sent data that this one was not. */
  readonly isOnlyStream: () => boolean;
  /** @throws SyncRefused */
  readonly pull: (message: Pull) => Promise<Pulled>;
  /** Resolves when work for this device may begin. */
  readonly turn: () => Promise<void>;
  readonly onHint: (hint: ChangeHint) => void;
}

export class HintSender {
  private readonly options: HintSenderOptions;
  private waiting: ChangeHint | undefined = undefined;
  private isSending = false;

  constructor(options: HintSenderOptions) {
    this.options = options;
  }

  /** Hints that arrive while one is being sent are merged into one. */
  send(hint: ChangeHint): void {
    this.waiting = hint;
    if (!this.isSending) void this.run();
  }

  private async run(): Promise<void> {
    this.isSending = true;
    while (this.waiting) {
      await this.options.turn();
      const hint = this.waiting;
      this.waiting = undefined;
      const sent = await this.withPull(hint).catch(() => hint);
      if (sent) this.options.onHint(sent);
    }
    this.isSending = false;
  }

  /** Adds the answer to the next pull. Undefined if the device has the commit already. */
  private async withPull(hint: ChangeHint): Promise<ChangeHint | undefined> {
    const { nextPull, isOnlyStream, pull } = this.options;
    const message = nextPull();
    if (message?.cursor === undefined) return hint;
    if (message.cursor >= hint.head) return isOnlyStream() ? undefined : hint;
    const piggybacked = await piggybackedPull(message, pull);
    return piggybacked ? { head: piggybacked.pulled.cursor, brought: piggybacked } : hint;
  }
}

/** The answer to the expected next pull. Undefined if it is large, or there would be more to pull. */
export async function piggybackedPull(
  message: Pull,
  pull: HintSenderOptions['pull'],
): Promise<PiggybackedPull | undefined> {
  const { cursor: since } = message;
  if (since === undefined) return undefined;
  const pulled = await pull({ ...message, maxBytes: PIGGYBACKED_BYTES });
  if (pulled.more || pulled.check) return undefined;
  return sizeOf(pulled) > PIGGYBACKED_BYTES ? undefined : { since, pulled };
}

const sizeOf = ({ puts }: Pulled): number =>
  puts.reduce((size, [, , stored]) => size + stored.length, 0);
