/** Hints for one device that listens: with what it would pull, where the hub knows how it would ask and that is little. */
import { isLoaded } from '../../protocol/loaded-sets.ts';
import type { PiggybackedPull, Pull, Pulled } from '../../protocol/messages.ts';
import type { ChangeHint } from '../../protocol/hints.ts';
import type { SyncRefusal } from '../../protocol/refusals.ts';

/** About so much goes along with a hint; what is more is asked for. */
const BROUGHT_BYTES = 64 * 1024;

/** How the device will ask once it has taken that answer; undefined where it asks for more at once. */
export function nextPull(message: Pull, pulled: Pulled): Pull | undefined {
  if (pulled.more || pulled.check || message.refetch.length > 0) return undefined;
  if (!pulled.sets.every(isLoaded)) return undefined;
  const answers = new Map(pulled.sets.map((answer) => [answer.id, answer]));
  const sets = message.sets.map((set) => {
    const answer = answers.get(set.id);
    return answer ? { ...set, loaded: answer.loaded, parts: answer.parts } : set;
  });
  const schema = pulled.schema?.version ?? message.schema;
  const { cursor, token } = pulled;
  return { ...message, cursor, token, schema, sets, maxBytes: BROUGHT_BYTES };
}

export interface CourierOptions {
  readonly nextPull: () => Pull | undefined;
  readonly pull: (message: Pull) => Promise<Pulled | SyncRefusal>;
  readonly onPoke: (poke: ChangeHint) => void;
}

export class Courier {
  private readonly options: CourierOptions;
  private waiting: ChangeHint | undefined = undefined;
  private isUnderWay = false;

  constructor(options: CourierOptions) {
    this.options = options;
  }

  /** Hints that come while one is under way are one. */
  note(poke: ChangeHint): void {
    this.waiting = poke;
    if (!this.isUnderWay) void this.run();
  }

  private async run(): Promise<void> {
    this.isUnderWay = true;
    for (let poke = this.waiting; poke; poke = this.waiting) {
      this.waiting = undefined;
      const told = await this.laden(poke).catch(() => poke);
      if (told) this.options.onPoke(told);
    }
    this.isUnderWay = false;
  }

  /** Undefined: it has that already. */
  private async laden(poke: ChangeHint): Promise<ChangeHint | undefined> {
    const message = this.options.nextPull();
    if (message?.cursor === undefined) return poke;
    if (message.cursor >= poke.head) return undefined;
    const brought = await bring(message, this.options.pull);
    return brought ? { head: brought.pulled.cursor, brought } : poke;
  }
}

/** The answer to what the device would ask, when it is little and all there is. */
export async function bring(
  message: Pull,
  pull: CourierOptions['pull'],
): Promise<PiggybackedPull | undefined> {
  const { cursor: since } = message;
  if (since === undefined) return undefined;
  const pulled = await pull(message);
  if ('code' in pulled || pulled.more || pulled.check) return undefined;
  return sizeOf(pulled) > BROUGHT_BYTES ? undefined : { since, pulled };
}

const sizeOf = ({ puts }: Pulled): number =>
  puts.reduce((size, [, , stored]) => size + stored.length, 0);
