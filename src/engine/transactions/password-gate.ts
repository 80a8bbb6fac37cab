/**
 * Limits password attempts. Wrong passwords are counted in rows of `meta` that no query can read. The result of a check is a recorded input
 * of the query, like a hash, so all executions of the query get the same result. See docs/decisions/0007-passwords.md.
 */
import { metaKey } from '../../codec/key.ts';
import { metaRange } from '../../codec/ranges.ts';
import { LIMITS } from '../../limits.ts';
import type { ReadTx, RowAddress } from '../../store/port.ts';
import type { PasswordAttempt } from '../../store/reader.ts';
import { scan } from '../../store/scan.ts';
import type { Micros } from '../../values/value.ts';
import type { EngineOptions } from '../context/host.ts';
import { AttemptClock, type AttemptClockOptions } from './attempt-clock.ts';

/** Whether the password is correct, or, if it was not compared, until when no attempt will be. */
export type VerifyResult = boolean | { readonly until: Micros };

/** A wrong password, or one whose comparison is in progress. `at` identifies it among those of one name. */
interface Failure {
  readonly at: Micros;
  readonly address: string | null;
}
type Failures = readonly Failure[];

const MINUTE: Micros = 60 * 1_000_000;
const HOUR: Micros = 60 * MINUTE;
/** Most names in memory. Above it, names that no limit needs any more are dropped. */
const NAMES_MAX = 4096;
/** How many rows are checked for removal with each write. */
const SWEPT = 8;

type Options = Pick<EngineOptions, 'store'> & AttemptClockOptions;

export class PasswordGate {
  private readonly store: Options['store'];
  private readonly clock: AttemptClock;
  /** Failures seen by this engine. Those of other tabs and of earlier runs are in the stored rows. */
  private readonly own = new Map<string, Failures>();

  constructor(options: Options) {
    this.store = options.store;
    this.clock = new AttemptClock(options);
  }

  /**
   * Compares a password unless there were too many failures. If the target has too many, the attempt is refused openly, without a
   * comparison. If only its account has too many, under other names, the attempt fails like a wrong password, after the same work: a
   * difference would reveal that the account exists.
   */
  async pass(attempt: PasswordAttempt, compare: () => Promise<boolean>): Promise<VerifyResult> {
    const names = namesOf(attempt);
    const known = this.knownBar(attempt);
    if (known !== undefined) return { until: known };
    const stored = await this.store.read(async (tx) => {
      const failures = await failuresIn(tx, names);
      return this.clock.isNew ? [...failures, ...(await allFailuresIn(tx))] : failures;
    }, META);
    // Nothing is awaited until the failure is in `own`, so that concurrent attempts see each other.
    const now = this.clock.now(latestOf(stored.flat()));
    const [targeted = [], accounted = targeted] = names.map((name, i) =>
      this.joined(stored[i] ?? [], this.own.get(name) ?? [], now),
    );
    const until = barredUntil(targeted, attempt, now);
    if (until !== undefined) return { until: this.clock.shown(until, now) };
    const isBarred = barredUntil(accounted, attempt, now) !== undefined;
    const address = attempt.address ?? null;
    const failure = distinctFrom([...targeted, ...accounted], { at: now, address });
    this.keep(names, failure, now);
    this.forgetOld(now);
    const isRight = (await this.compared(names, failure, compare)) && !isBarred;
    if (!isRight) {
      const stored = await this.persist(names, failure);
      this.takeBack(names, failure);
      this.keep(names, stored, now);
    } else {
      this.takeBack(names, failure);
      // At the next start, the clock begins at the latest time of all rows. With this row, a user who has waited need not wait again. A
      // full disk must not make a password wrong.
      if (this.clock.isOwn && accounted.length > 0)
        await this.persist(['clock'], failure).catch(() => undefined);
    }
    return isRight;
  }

  /**
   * Until when the failures in memory bar the target. Stored rows could only add failures, so repeated attempts cause no reads of the
   * store.
   */
  private knownBar(attempt: PasswordAttempt): Micros | undefined {
    const own = this.own.get(attempt.target);
    if (!own || this.clock.isNew) return undefined;
    const now = this.clock.now(latestOf(own));
    const until = barredUntil(this.joined(own, [], now), attempt, now);
    return until === undefined ? undefined : this.clock.shown(until, now);
  }

  /** Compares the password. If the comparison throws, the attempt does not count. */
  private async compared(
    names: readonly string[],
    failure: Failure,
    compare: () => Promise<boolean>,
  ): Promise<boolean> {
    try {
      return await compare();
    } catch (reason) {
      this.takeBack(names, failure);
      throw reason;
    }
  }

  private keep(names: readonly string[], failure: Failure, now: Micros): void {
    for (const name of names)
      this.own.set(name, this.joined(this.own.get(name) ?? [], [failure], now));
  }

  private takeBack(names: readonly string[], failure: Failure): void {
    for (const name of names) {
      const left = (this.own.get(name) ?? []).filter((each) => each !== failure);
      if (left.length === 0) this.own.delete(name);
      else this.own.set(name, left);
    }
  }

  /**
   * Returns the failure as stored. It gets a later time if another tab has stored one at the same time: their clocks start at the same stored
   * time.
   */
  private async persist(names: readonly string[], failure: Failure): Promise<Failure> {
    const [first = ''] = names;
    let stored = failure;
    await this.store.write(
      async (tx) => {
        const before = await failuresIn(tx, names);
        stored = distinctFrom(before.flat(), failure);
        const swept = await tx.fetch([], [after(first)]);
        const gone = (swept.ranges[0] ?? []).filter(
          ({ key, row }) =>
            isOver(parse(row?.value), failure.at) && !names.some((name) => key === keyOf(name)),
        );
        tx.apply({
          puts: names.map((name, i) => {
            const kept = this.joined(before[i] ?? [], [stored], failure.at);
            return {
              space: 'meta',
              row: { key: keyOf(name), entries: [], value: JSON.stringify(kept) },
            };
          }),
          deletes: gone.map(({ key }) => ({ space: 'meta', key })),
        });
      },
      { ...META, durability: 'relaxed' },
    );
    return stored;
  }

  /**
   * The failures of both lists, without duplicates and without those that no limit needs any more, oldest first. Nor does a limit need
   * failures far in the future: the wall clock was wrong when they were made. A clock of its own is never wrong.
   */
  private joined(one: Failures, other: Failures, now: Micros): Failures {
    const last = this.clock.isOwn ? Infinity : now + HOUR;
    const all = new Map<string, Failure>();
    for (const each of [...one, ...other]) {
      if (each.at > now - HOUR && each.at < last) all.set(`${each.at} ${each.address}`, each);
    }
    return [...all.values()].sort((a, b) => a.at - b.at).slice(-LIMITS.passwordFailuresPerHour);
  }

  private forgetOld(now: Micros): void {
    if (this.own.size <= NAMES_MAX) return;
    for (const [name, failures] of this.own) if (isOver(failures, now)) this.own.delete(name);
  }
}

const META = { spaces: ['meta'] } as const;
const ALL = metaRange('failures');
const keyOf = (name: string) => metaKey(`failures/${name}`);

const after = (name: string) => scan('meta', { ...ALL, lower: keyOf(name) }, { limit: SWEPT });

const namesOf = ({ target, account }: PasswordAttempt): readonly string[] =>
  target === account ? [target] : [target, account];

async function failuresIn(tx: ReadTx, names: readonly string[]): Promise<readonly Failures[]> {
  const addresses = names.map((name): RowAddress => ({ space: 'meta', key: keyOf(name) }));
  const { rows } = await tx.fetch(addresses, []);
  return rows.map((row) => parse(row?.value));
}

async function allFailuresIn(tx: ReadTx): Promise<readonly Failures[]> {
  const { ranges } = await tx.fetch([], [scan('meta', ALL)]);
  return (ranges[0] ?? []).map(({ row }) => parse(row?.value));
}

const latestOf = (failures: Failures): Micros | undefined =>
  failures.reduce<Micros | undefined>((latest, { at }) => Math.max(latest ?? at, at), undefined);

/** Only this file writes these rows, so their contents are not checked. */
const parse = (value: string | Uint8Array | undefined): Failures =>
  typeof value === 'string' ? (JSON.parse(value) as Failures) : [];

/** The failure, at the first time from its own on at which the others have none: failures at the same time count as one. */
function distinctFrom(others: Failures, { at, address }: Failure): Failure {
  const isTaken = (time: Micros): boolean =>
    others.some((each) => each.at === time && each.address === address);
  let free = at;
  while (isTaken(free)) free += 1;
  return { at: free, address };
}

const isOver = (failures: Failures, now: Micros): boolean =>
  failures.every(({ at }) => at <= now - HOUR);

/** Until when the limits allow no attempt. Undefined: an attempt is allowed now. */
function barredUntil(
  failures: Failures,
  attempt: PasswordAttempt,
  now: Micros,
): Micros | undefined {
  const from = attempt.address ?? null;
  const here = failures.filter(({ at, address }) => address === from && at > now - MINUTE);
  const ofMinute = here.at(-LIMITS.passwordFailuresPerMinute);
  const ofHour = failures.at(-LIMITS.passwordFailuresPerHour);
  if (ofHour) return ofHour.at + HOUR;
  return ofMinute && ofMinute.at + MINUTE;
}
