import { LIMITS } from '../limits.ts';
import { Database } from './database.ts';
import { BurrowError } from './errors.ts';
import { Link } from './link.ts';

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
  /** bcrypt cost of new passwords. */
  readonly hashCost?: number;
  /** Whether to ask the browser, after the first write, never to evict the data. Default true; some browsers ask the user. */
  readonly persist?: boolean;
}

const DAY_MAX = 3650;

/**
 * Opens a database of this origin, or makes it.
 * @throws BurrowError when it cannot be opened here, or an option is wrong
 * @throws QueryError when the browser refuses storage
 * @example
 * const db = await openDatabase('field-notes');
 * const notes = await db.client().query(q.Paginate(q.Documents(q.Collection('notes'))));
 */
export async function openDatabase(name: string, options: DatabaseOptions = {}): Promise<Database> {
  check(
    typeof name === 'string' && name !== '',
    'The name of a database is a text that is not empty.',
  );
  const { worker, durability = 'strict', log = {}, hashCost, persist = true } = options;
  const { enabled = false, retentionDays = 30, maxBytes = 64 * 1024 * 1024 } = log;
  const cost = hashCost ?? LIMITS.hashCostDefault;
  check(
    worker === undefined || typeof worker === 'function',
    'The option `worker` is a function that makes a Worker.',
  );
  check(
    durability === 'strict' || durability === 'relaxed',
    "The option `durability` is 'strict' or 'relaxed'.",
  );
  check(
    isWithin(cost, LIMITS.hashCostMin, LIMITS.hashCostMax),
    `The option \`hashCost\` is an integer from ${LIMITS.hashCostMin} to ${LIMITS.hashCostMax}.`,
  );
  check(
    isWithin(retentionDays, 1, DAY_MAX),
    `The option \`log.retentionDays\` is an integer from 1 to ${DAY_MAX}.`,
  );
  check(
    isWithin(maxBytes, 0, Number.MAX_SAFE_INTEGER),
    'The option `log.maxBytes` is an integer that is not negative.',
  );
  const link = new Link({
    name,
    start: worker,
    durability,
    hashCost: cost,
    log: { enabled, retentionDays, maxBytes },
  });
  await link.connect();
  return new Database(link, { persist });
}

const isWithin = (value: number, min: number, max: number): boolean =>
  Number.isInteger(value) && value >= min && value <= max;

function check(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new BurrowError(sentence);
}
