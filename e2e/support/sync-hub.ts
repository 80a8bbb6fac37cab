/** A hub as a separate process, with users and notes, behind a proxy that injects faults. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { quickPglite } from '../../scripts/quick-pglite.mjs';
import type { Driver, DriverClient } from './driver.ts';
import { FaultyProxy } from './faulty-proxy.ts';

const root = join(import.meta.dirname, '../..');
export const ROOT_SECRET = 'burrow-root-of-a-test-hub-which-is-known';
export const PASSWORD = 'correct horse battery';

const { Client, query } = createRequire(import.meta.url)('faunadb') as Driver;

/** Calls a builder of Fauna's original driver. */
export const call = (name: string, ...args: unknown[]): unknown => {
  const builder = query[name];
  if (!builder) throw new Error(`The driver has no ${name}.`);
  return builder(...args);
};

export const notes = (): unknown => call('Collection', 'notes');
export const note = (id: string): unknown => call('Ref', notes(), id);

export interface HubProcess {
  readonly url: string;
  end(): Promise<void>;
}

/** A separate database on a shared hub, with a connection that can be cut. */
export interface SyncHub {
  /** URL of the proxy, which browsers use. */
  readonly url: string;
  readonly proxy: FaultyProxy;
  /** Secret of a client key. */
  readonly key: string;
  /** A client with all privileges, which does not use the proxy. */
  readonly admin: DriverClient;
  /** The hub's own URL, and the secret of the admin client. */
  readonly direct: { readonly url: string; readonly secret: string };
  /** Creates a token of a user. */
  token(email: string, more?: object): Promise<string>;
  close(): Promise<void>;
}

let made = 0;

/** A client with all privileges at a test's hub. */
export function openAdmin(url: string, secret = ROOT_SECRET): DriverClient {
  const { hostname, port } = new URL(url);
  return new Client({ secret, domain: hostname, port, scheme: 'http' });
}

export async function openSyncHub(process: HubProcess): Promise<SyncHub> {
  const root = openAdmin(process.url);
  const name = `test-${++made}`;
  await root.query(call('CreateDatabase', { name }));
  const own = await root.query(
    call('CreateKey', { role: 'admin', database: call('Database', name) }),
  );
  const secret = String(own['secret']);
  const admin = openAdmin(process.url, secret);
  const key = await createTestData(admin);
  const proxy = await FaultyProxy.start(process.url);
  const user = (email: string): unknown => call('Match', call('Index', 'users_by_email'), email);
  return {
    url: proxy.url,
    proxy,
    key,
    admin,
    direct: { url: process.url, secret },
    async token(email, more = {}) {
      const instance = call('Select', 'ref', call('Get', user(email)));
      const { secret } = await admin.query(call('Create', call('Tokens'), { instance, ...more }));
      return String(secret);
    },
    async close() {
      await Promise.all([admin.close({ force: true }), root.close({ force: true })]);
      await proxy.close();
    },
  };
}

export async function startHub(): Promise<HubProcess> {
  const hub = ['hub', '--port', '0', '--data', 'memory:'];
  const program = [...quickPglite, join(root, 'scripts/hub.mjs'), ...hub];
  const free = [
    '--cors',
    '*',
    '--rate',
    '0',
    '--rate-address',
    '0',
    '--sockets-per-address',
    '1000',
    '--query-timeout',
    '120000',
    '--query-timeout-max',
    '120000',
  ];
  const env = { ...process.env, BURROW_ROOT_SECRET: ROOT_SECRET };
  const child = spawn(process.execPath, [...program, ...free], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (part) => {
      said += String(part);
      const found = /burrow hub listening on (\S+)/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`The hub ended: ${said}`)));
  });
  return {
    url,
    async end() {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** Creates notes that any user may write, with a unique slug, and users who can log in. @returns the secret of a client key */
async function createTestData(admin: DriverClient): Promise<string> {
  await admin.query(
    call('Do', ...['users', 'notes'].map((name) => call('CreateCollection', { name }))),
  );
  const byEmail = {
    name: 'users_by_email',
    source: call('Collection', 'users'),
    terms: [{ field: ['data', 'email'] }],
    unique: true,
    // For logins with the client key.
    permissions: { read: 'public' },
  };
  const bySlug = {
    name: 'notes_by_slug',
    source: notes(),
    terms: [{ field: ['data', 'slug'] }],
    unique: true,
  };
  const users = ['alice@example.org', 'bob@example.org'].map((email) =>
    call('Create', call('Collection', 'users'), {
      data: { email },
      credentials: { password: PASSWORD },
    }),
  );
  const [{ secret }] = await Promise.all([
    admin.query(call('CreateKey', { role: 'client' })),
    admin.query(call('Do', call('CreateIndex', byEmail), call('CreateIndex', bySlug))),
    ...users.map((user) => admin.query(user)),
  ]);
  const actions = { read: true, write: true, create: true, delete: true, history_read: true };
  await admin.query(
    call('CreateRole', {
      name: 'people',
      membership: [{ resource: call('Collection', 'users') }],
      privileges: [
        { resource: notes(), actions },
        { resource: call('Index', 'notes_by_slug'), actions: { read: true } },
      ],
    }),
  );
  return String(secret);
}
