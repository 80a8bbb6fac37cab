/** Reports to the inspector what happens in this worker. Requires the root secret. */
import type { Key } from '../../src/codec/key.ts';
import { databaseOf, numberOf } from '../../src/codec/key.ts';
import { schemasOver } from '../../src/engine/catalog.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { refusalBody } from '../../src/engine/session.ts';
import { Refusal, type RefusalCode } from '../../src/errors.ts';
import type {
  Diagnostics,
  DiagnosticsCall,
  LiveRecord,
  QueryReads,
  QueryRecord,
  ReadCount,
  SetRecord,
  SyncRecord,
} from '../../src/host/diagnostics.ts';
import type { HttpCall, HttpReply } from '../../src/host/query.ts';
import { secretOf } from '../../src/http/authorization.ts';
import { redactQuery } from '../../src/logs/redact.ts';
import { isLoaded } from '../../src/sync/protocol/loaded-sets.ts';
import type { KeptSet } from '../../src/sync/device/state/replica-state.ts';
import type { Store } from '../../src/store/port.ts';
import type { LiveQueries } from '../queries/live-queries.ts';
import { refusalOf } from '../queries/replies.ts';
import type { SyncSession } from '../sync/session.ts';
import { loggedBefore } from './logged-before.ts';
import { actorOf, countReads, type CountedReads, type QueryWatch } from './query-watch.ts';

export interface DiagnosticsHost {
  readonly engine: Engine;
  readonly live: LiveQueries;
  readonly sync: SyncSession;
  readonly watch: QueryWatch;
  readonly store: Store;
  readonly clock: () => number;
}

const HEADERS = { 'content-type': 'application/json;charset=utf-8' };

export async function answerDiagnostics(
  { headers, body, base }: HttpCall,
  host: DiagnosticsHost,
): Promise<HttpReply> {
  try {
    const secret = secretOf(headers['authorization']);
    const credential = secret === undefined ? undefined : await host.engine.authenticate(secret);
    // Requests through the service worker are rejected (`base` is set): they may come from pages that have not opened the database.
    if (credential?.label.kind !== 'root' || base !== undefined)
      throw new Refusal('forbidden', 'Only the root secret of this page opens the inspector.');
    const call = JSON.parse(body ?? '{}') as DiagnosticsCall;
    const { resolve, watch = true, after = 0 } = call;
    if (resolve) await host.sync.resolveWrite(resolve.id, resolve.choice);
    if (watch) await beginWatch(host);
    else host.watch.stop();
    return { status: 200, headers: HEADERS, body: JSON.stringify(await lookAt(host, after)) };
  } catch (reason) {
    const { code, description } = refusalOf(reason);
    const status = reason instanceof Refusal ? reason.status : 500;
    return { status, headers: HEADERS, body: refusalBody(code satisfies RefusalCode, description) };
  }
}

async function beginWatch({ watch, store, clock }: DiagnosticsHost): Promise<void> {
  const { isOn } = watch;
  watch.begin();
  if (isOn || !watch.own) return;
  await watch.own.flush();
  for (const record of await loggedBefore(store, clock())) watch.keep(record);
}

async function lookAt(host: DiagnosticsHost, after: number): Promise<Diagnostics> {
  const { queries, last, dropped } = host.watch.after(after);
  const live = host.live.states();
  const reads = live.map(({ readSet }) => countReads(readSet ?? NOTHING_READ));
  const names = await namesOf(host.engine, [...queries.map((each) => each.reads), ...reads]);
  const withNames = (each: CountedReads): Omit<QueryReads, 'entries'> => ({
    collections: named(each.collections, names),
    indexes: named(each.indexes, names),
  });
  return {
    last,
    dropped,
    isLogged: host.watch.own !== undefined,
    queries: queries.map(({ reads: read, ...each }): QueryRecord => ({
      ...each,
      reads: read && { ...withNames(read), entries: read.entries },
    })),
    live: await Promise.all(
      live.map(async ({ id, secret, query, took, runs, answers }, at): Promise<LiveRecord> => {
        const credential = await host.engine.authenticate(secret);
        return {
          id,
          query: credential && redactQuery(query, false),
          actor: credential && actorOf(credential.label),
          runs,
          told: answers,
          tookMs: Number.isFinite(took) ? took : undefined,
          reads: withNames(reads[at] ?? NOTHING_COUNTED),
        };
      }),
    ),
    sync: await syncOf(host.sync),
  };
}

const NOTHING_READ = { rows: [], ranges: [] };
const NOTHING_COUNTED: CountedReads = { collections: new Map(), indexes: new Map() };

type Names = ReadonlyMap<Key, string>;

const named = (counts: ReadonlyMap<Key, number>, names: Names): readonly ReadCount[] =>
  [...counts].map(([key, count]) => ({ name: names.get(key), count }));

/** The present names of the collections and indexes. */
async function namesOf(
  engine: Engine,
  reads: readonly (CountedReads | undefined)[],
): Promise<Names> {
  const keys = {
    collections: new Set(reads.flatMap((each) => [...(each?.collections.keys() ?? [])])),
    indexes: new Set(reads.flatMap((each) => [...(each?.indexes.keys() ?? [])])),
  };
  if (keys.collections.size + keys.indexes.size === 0) return new Map();
  const found = await engine.transactions.read(({ writer }) => {
    const schemas = schemasOver(writer, writer.base);
    const names = new Map<Key, string>();
    for (const kind of ['collections', 'indexes'] as const)
      for (const key of keys[kind]) {
        const name = schemas(databaseOf(key)).byId(kind, BigInt(numberOf(key)))?.name;
        if (name !== undefined) names.set(key, name);
      }
    return { value: names };
  });
  return found.value;
}

async function syncOf(session: SyncSession): Promise<SyncRecord | undefined> {
  const { state, reason, copy } = await session.overview();
  if (!copy) return undefined;
  const { hub, cursor, schema, sets, lastSeq, settledSeq, outboxSize, skew } = copy;
  const writes = copy.isLocked ? [] : await session.writes(undefined);
  return {
    state,
    reason,
    hub,
    cursorMicros: cursor,
    hasSchema: schema !== undefined,
    sets: sets.map(setOf),
    pending: lastSeq - settledSeq,
    pendingSize: outboxSize,
    skewMicros: skew,
    // Writes in the outbox contain no secrets.
    writes: writes.slice(-WRITES_MAX),
  };
}

/** Only the most recent writes are sent; earlier ones are only counted. */
const WRITES_MAX = 1000;

const setOf = (set: KeptSet): SetRecord => {
  const { query, rows, of, error } = set;
  const loaded = set.loaded === 'nothing' ? 'nothing' : isLoaded(set) ? 'all' : 'part';
  return { query, rows, of, error, loaded: error ? 'refused' : loaded };
};
