/**
 * Offline login for the user who has logged in at the hub, for a limited time: a hash of the password, made on this device with its own
 * salt. It unlocks this copy and is useless at the hub.
 */
import { syncKey } from '../../src/codec/key.ts';
import { normalised } from '../../src/engine/access.ts';
import type { Transactions } from '../../src/engine/engine.ts';
import { PasswordGate } from '../../src/engine/transactions.ts';
import { Refusal } from '../../src/errors.ts';
import { tooManyPasswords } from '../../src/fault-texts.ts';
import type { RowAddress, Store } from '../../src/store/port.ts';
import type { Writer } from '../../src/store/reader.ts';
import { DAY_MICROS } from '../../src/values/time.ts';
import type { Micros } from '../../src/values/value.ts';

const VERIFIER: RowAddress = { space: 'sync', key: syncKey('verifier') };
/** bcrypt cost. Higher than at the hub, because someone who steals the disk can guess offline. */
const COST = 12;
const LIFE_DAYS = 30;

interface Verifier {
  /** Identifies hub and user, so that the password of another user unlocks nothing. */
  readonly user: string;
  readonly hash: string;
  readonly expiresAt: Micros;
  /** When the password was set at the hub, in µs. */
  readonly passwordSetAt: Micros | undefined;
}

export interface VerifierOptions {
  readonly store: Store;
  readonly transactions: Transactions;
  readonly clock: () => Micros;
  /** Elapsed time in µs, not affected by changes of the clock. */
  readonly elapsed: () => Micros;
  readonly hash: (password: string, cost: number) => Promise<string>;
  readonly verify: (password: string, hash: string | undefined) => Promise<boolean>;
}

export class OfflineLogin {
  private readonly options: VerifierOptions;
  private readonly gate: PasswordGate;

  constructor(options: VerifierOptions) {
    this.options = options;
    this.gate = new PasswordGate(options);
  }

  /** Called after a login at the hub. @param passwordSetAt when the password was set, according to the hub */
  async remember(user: string, password: string, passwordSetAt: Micros | undefined): Promise<void> {
    const hashed = await this.options.hash(normalised(password), COST);
    await this.write((writer, now) => {
      const expiresAt = now + LIFE_DAYS * DAY_MICROS;
      const made: Verifier = { user, hash: hashed, expiresAt, passwordSetAt };
      writer.put('sync', { key: VERIFIER.key, entries: [], value: JSON.stringify(made) });
    });
  }

  /**
   * @param why a sentence that says why the hub was not asked
   * @throws Refusal `connection_needed` when this device cannot tell; `too many requests`
   */
  async check(user: string, password: string, why: string): Promise<boolean> {
    const { verify } = this.options;
    const { known, now } = await this.read();
    if (known?.user !== user || known.expiresAt < now) throw unknownHere(why);
    const attempt = { target: user, account: user, address: undefined };
    const verdict = await this.gate.pass(attempt, () => verify(normalised(password), known.hash));
    if (typeof verdict === 'boolean') return verdict;
    throw tooManyPasswords(verdict.until);
  }

  /**
   * Called with the time at which the password was set at the hub. If it is another time than that of the password known here, or there
   * is no password, offline login ends.
   */
  async onPassword(setAt: Micros | undefined): Promise<void> {
    const { known } = await this.read();
    if (known && known.passwordSetAt !== setAt) await this.forget();
  }

  async forget(): Promise<void> {
    await this.write((writer) => writer.delete('sync', VERIFIER.key));
  }

  /**
   * `now` is never before the last commit, and reading makes a commit: setting the clock back afterwards does not extend the time limit.
   */
  private async read(): Promise<{ readonly known: Verifier | undefined; readonly now: Micros }> {
    const { value } = await this.options.transactions.write(({ writer, head }) => {
      const row = writer.row(VERIFIER);
      const known = row && (JSON.parse(String(row.value)) as Verifier);
      const now = this.notBefore(head);
      if (row) writer.put('sync', row);
      return { value: { known, now }, ts: now + 1 };
    });
    return value;
  }

  private async write(change: (writer: Writer, now: Micros) => void): Promise<void> {
    await this.options.transactions.write(({ writer, head }) => {
      const now = this.notBefore(head);
      change(writer, now);
      return { value: undefined, ts: now + 1 };
    });
  }

  private notBefore(head: Micros): Micros {
    return Math.max(head, this.options.clock());
  }
}

const unknownHere = (why: string): Refusal =>
  new Refusal(
    'connection_needed',
    `${why} This user has not logged in on this device in the last 30 days: log in once at the hub.`,
  );
