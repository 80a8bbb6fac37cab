/**
 * The names that apps, their tests and guides relied on from the beginning, used as apps use them. They are never renamed: a program
 * that reads a name that is gone gets `undefined`, without an error. Checked by `npm run types`, never run.
 */
import { openDatabase, q, type QueryError, type SyncState, type Verdict } from '../index.ts';

declare const secret: string;
declare const email: string;
declare const password: string;
declare const key: string;
declare const id: string;

export async function page(): Promise<void> {
  const db = await openDatabase('field-notes', {
    worker: () => new Worker('worker.js'),
    durability: 'relaxed',
    log: { enabled: true, retentionDays: 7, maxBytes: 1_000_000 },
    hashCost: 10,
  });
  db.rootSecret satisfies string;
  const admin = db.client();
  const alice = db.client({ secret });
  const users = q.Match(q.Index('users_by_email'), email);
  await admin.query(q.Now());
  const { metrics } = await admin.queryWithMetrics(q.Now());
  const { bytesIn, bytesOut, computeOps, readOps, writeOps, readBytes, writeBytes } = metrics;
  const { queryTime, retries } = metrics;
  [bytesIn, bytesOut, computeOps, readOps, writeOps, readBytes, writeBytes] satisfies number[];
  [queryTime, retries] satisfies number[];
  await alice.Login(users, { password, data: { device: 'phone' } });
  await alice.Logout(true);
  await alice.Identify(users, password);
  await alice.Paginate(users, { size: 2, after: null });
  const helper = admin.paginate(users, { size: 2 });
  for await (const each of helper) each satisfies unknown[];
  await helper.nextPage();
  await helper.previousPage();
  await helper
    .map((ref) => q.Get(ref))
    .filter(() => true)
    .each(() => undefined);
  const stop = admin.subscribe(q.Now(), { next: () => undefined, error: () => undefined });
  stop();
  await db.fetch('/ping', { method: 'GET' });
  const wish = { time_start: new Date(0), time_end: new Date(), regionGroup: 'local' };
  await db.logs.request({ ...wish, database: 'child', idempotency_token: id });
  await db.logs.status(id);
  await db.logs.createUrl(id, { version: 1 });
  await db.logs.list({ states: ['Complete'], next_token: id, max_results: 10 });
  await db.close();
  await db.destroy();
}

export async function synced(): Promise<void> {
  const db = await openDatabase('field-notes');
  const url = 'https://hub.example';
  const sets = [q.Documents(q.Collection('notes'))];
  const user = q.Match(q.Index('users_by_email'), email);
  await db.sync({ url, secret, sets });
  const sync = await db.sync({ url, login: { user, password, key }, sets });
  const { value, settled } = await sync.client.submit(q.Now());
  value satisfies unknown;
  const verdict: Verdict = await settled;
  [verdict.id, verdict.state] satisfies string[];
  verdict.ts satisfies number;
  if (verdict.state === 'refused') verdict.error satisfies QueryError;
  else verdict.value satisfies unknown;
  sync.state satisfies SyncState;
  for (const name of ['state', 'verdict', 'progress'] as const)
    sync.addEventListener(name, () => undefined);
  await sync.whenSynced();
  await sync.whenSynced(q.Documents(q.Collection('notes')));
  await sync.whenSettled();
  await sync.writes.list({ states: ['local', 'parked', 'confirmed', 'amended', 'refused'] });
  await sync.writes.resolve(id, { discard: true });
  await sync.writes.resolve(id, { retry: true });
  await sync.writes.resolve(id, { edit: q.Now() });
  await sync.stop();
  await db.signOut({ forget: true });
}

export const failed = ({ code, description, position, status, errors }: QueryError): unknown[] => [
  code,
  description,
  position,
  status,
  errors,
];
