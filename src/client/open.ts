import { LIMITS } from '../limits.ts';
import { Database } from './database.ts';
import { UsageError } from './errors.ts';
import { Link } from './connection/link.ts';
import type { Login } from './login.ts';
import { checkName, storedName } from './stored-names.ts';

export interface DatabaseOptions {
  /** Makes the worker, where a bundler does not find it by itself. */
  readonly worker?: () => Worker;
  /** `strict` (default): a write that resolved survives a power cut. `relaxed`: it survives a killed browser. */
  readonly durability?: 'strict' | 'relaxed';
  /** The log of queries: off unless `enabled`. Kept 30 days and 64 MiB at most by default; the oldest go first. */
  readonly log?: {
    readonly enabled?: boolean;
    readonly retentionDays?: number;
    readonly maxBytes?: number;
  };
  /** bcrypt cost of new passwords, from 10 to 14. */
  readonly hashCost?: number;
  /** What tokens of identity providers (JWT) are made out to: with it, the database itself has access providers, not only those inside it. */
  readonly audience?: string;
  /**
   * Whose data it is, such as an e-mail address: each identity has a database of its own under this name. It is written nowhere; the
   * same text opens the same database.
   */
  readonly identity?: string;
  /** Unlocks a database whose user had signed out. */
  readonly unlock?: Login;
  /** Whether to ask the browser, after the first write, never to evict the data. Default true; some browsers ask the user. */
  readonly persist?: boolean;
}

const DAY_MAX = 3650;

/**
 * Opens a database of this origin, or makes it.
 * @throws UsageError when an option is wrong, Unsupported where there are no workers
 * @throws QueryError when the browser refuses storage, or the worker does not start
 * @example
 * const db = await openDatabase('field-notes');
 * const notes = await db.client().query(q.Paginate(q.Documents(q.Collection('notes'))));
 */
export async function openDatabase(name: string, options: DatabaseOptions = {}): Promise<Database> {
  checkName(name);
  const {
    identity,
    unlock,
    worker,
    durability = 'strict',
    log = {},
    hashCost,
    audience,
    persist = true,
  } = options;
  const { enabled = false, retentionDays = 30, maxBytes = 64 * 1024 * 1024 } = log;
  const cost = hashCost ?? LIMITS.hashCostDefault;
  check(worker === undefined || typeof worker === 'function', 'worker', 'a function', worker);
  check(
    durability === 'strict' || durability === 'relaxed',
    'durability',
    "'strict' or 'relaxed'",
    durability,
  );
  const { hashCostNewMin, hashCostMax } = LIMITS;
  check(
    isWithin(cost, hashCostNewMin, hashCostMax),
    'hashCost',
    `an integer from ${hashCostNewMin} to ${hashCostMax}`,
    cost,
  );
  check(
    audience === undefined || (typeof audience === 'string' && audience !== ''),
    'audience',
    'a string that is not empty',
    audience,
  );
  check(typeof log === 'object', 'log', 'an object', log);
  check(
    isWithin(retentionDays, 1, DAY_MAX),
    'log.retentionDays',
    `an integer from 1 to ${DAY_MAX}`,
    retentionDays,
  );
  check(
    isWithin(maxBytes, 0, Number.MAX_SAFE_INTEGER),
    'log.maxBytes',
    'an integer of 0 or more',
    maxBytes,
  );
  const link = new Link({
    name: await storedName(name, identity),
    start: worker,
    durability,
    hashCost: cost,
    audience,
    log: { enabled, retentionDays, maxBytes },
  });
  await link.start();
  const database = new Database(link, { name, persist });
  if (unlock && database.isLocked) {
    await database.unlock(unlock).catch(async (reason: unknown) => {
      await database.close();
      throw reason;
    });
  }
  return database;
}

const isWithin = (value: number, min: number, max: number): boolean =>
  Number.isInteger(value) && value >= min && value <= max;

function check(isRight: boolean, option: string, wanted: string, given: unknown): asserts isRight {
  if (isRight) return;
  const shown = JSON.stringify(given) ?? String(given);
  throw new UsageError(`The option \`${option}\` must be ${wanted}, but is ${shown}.`);
}
