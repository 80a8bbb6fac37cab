/** One run of a device's query over what it shows: what it answers, what it would change, what it looked at. */
import type { QueryRequest } from '../../engine/host.ts';
import type { Transactions } from '../../engine/engine.ts';
import type { QueryExecution, QueryPlan } from '../../engine/session.ts';
import type { Announced, BodyInput } from '../../engine/transactions.ts';
import { Refusal } from '../../errors.ts';
import { Overlay } from '../../store/overlay.ts';
import { isEntrySpace } from '../../store/port.ts';
import type { RowAddress, WriteSet } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import type { Micros } from '../../values/value.ts';
import { digestOf } from '../digest.ts';
import type { Actor } from '../protocol.ts';
import { withoutSecrets } from '../without-secrets.ts';
import { HubOnly, standInFor } from './actor.ts';
import type { Reads } from './rows.ts';
import type { Seen } from './view.ts';

/** What a write that was made before must not make up anew. */
export interface Given {
  readonly now: Micros;
  readonly ids: readonly bigint[];
  readonly moreIds: (index: number) => bigint;
}

export function planFor(
  transactions: Transactions,
  request: Omit<QueryRequest, 'secret'>,
  actor: Actor,
  given: Partial<Given> = {},
): QueryPlan {
  const plan = transactions.plan(
    { ...request, secret: undefined },
    { ...given, standIn: standInFor(actor) },
  );
  return withoutSecrets(plan, refuseSecrets);
}

function refuseSecrets(): never {
  throw new Refusal(
    'connection_needed',
    'Queries with passwords, logins, keys or tokens run only at the hub; this query needs a connection to it.',
  );
}

export interface LocalRun {
  readonly attempted: QueryExecution;
  readonly ts: Micros;
  /** Empty when it failed. */
  readonly effects: WriteSet;
  readonly reads: Reads | 'all';
}

/** @throws Suspended, Refusal, HubOnly */
export function runLocally(
  transactions: Transactions,
  plan: QueryPlan,
  input: BodyInput,
  shown: { readonly reader: Reader; readonly seen: Seen },
): LocalRun {
  const own = new Overlay(shown.reader);
  const { value, ts } = transactions.execute(plan, { ...input, writer: own });
  return {
    attempted: value,
    ts,
    effects: value.outcome.ok ? own.writes() : NO_EFFECTS,
    reads: readsOf(shown.seen),
  };
}

export const NO_EFFECTS: WriteSet = { puts: [], deletes: [] };

/** A query that looked at more than this is run again whatever changes. */
const READS_MAX = 64;

export function readsOf({ rows, ranges }: Seen): Reads | 'all' {
  const own = rows.filter(({ space }) => isEntrySpace(space));
  if (own.length + ranges.length > READS_MAX) return 'all';
  return { rows: own, ranges };
}

/** What changes for those who look: rows and entries, as they are and as they were. */
export function announcementOf(
  effects: readonly WriteSet[],
  before: (
    address: RowAddress,
  ) => { readonly entries: WriteSet['puts'][number]['row']['entries'] } | undefined,
): Announced {
  const rows: Announced['rows'][number][] = [];
  const entries: Announced['entries'][number][] = [];
  const note = (address: RowAddress, has: WriteSet['puts'][number]['row']['entries']): void => {
    const { space, key } = address;
    if (!isEntrySpace(space)) return;
    rows.push({ space, key });
    for (const entry of before(address)?.entries ?? []) entries.push({ space, key: entry });
    for (const entry of has) entries.push({ space, key: entry });
  };
  for (const { puts, deletes } of effects) {
    for (const { space, row } of puts) note({ space, key: row.key }, row.entries);
    for (const address of deletes) note(address, []);
  }
  return { rows, entries };
}

/** Undefined when it failed: then there is nothing to compare with. */
export const digestOfRun = (
  { attempted, effects }: LocalRun,
  sha256: (bytes: Uint8Array) => Uint8Array,
): string | undefined =>
  attempted.outcome.ok ? digestOf(effects, attempted.outcome.text, sha256) : undefined;

export const isHubOnly = (thrown: unknown): thrown is HubOnly => thrown instanceof HubOnly;
