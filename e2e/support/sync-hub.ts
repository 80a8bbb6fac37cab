/** A hub that runs as a process of its own, with people and notes in it, behind a proxy that fails when it is told to. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Driver, DriverClient } from './driver.ts';
import { FaultyProxy } from './faulty-proxy.ts';

const root = join(import.meta.dirname, '../..');
const ROOT_SECRET = 'burrow-root-of-a-test-hub-which-is-known';
export const PASSWORD = 'correct horse battery';

const { Client, query } = createRequire(import.meta.url)('faunadb') as Driver;

/** A builder of the original driver. */
export const call = (name: string, ...args: unknown[]): unknown => {
  const builder = query[name];
  if (!builder) throw new Error(`The driver has no ${name}.`);
  return builder(...args);
};

export const notes = (): unknown => call('Collection', 'notes');
export const note = (id: string): unknown => call('Ref', notes(), id);

export interface SyncHub {
  /** Of the proxy: what browsers are told. */
  readonly url: string;
  readonly proxy: FaultyProxy;
  /** Secret of a client key. */
  readonly key: string;
  /** As the root, past the proxy. */
  readonly admin: DriverClient;
  /** A new token of a person. */
  token(email: string, more?: object): Promise<string>;
  ended(): Promise<void>;
}

export async function startSyncHub(...args: string[]): Promise<SyncHub> {
  const hub = await startHub(args);
  const proxy = await FaultyProxy.start(hub.url);
  const { hostname, port } = new URL(hub.url);
  const admin = new Client({ secret: ROOT_SECRET, domain: hostname, port, scheme: 'http' });
  const key = await furnish(admin);
  const user = (email: string): unknown => call('Match', call('Index', 'users_by_email'), email);
  return {
    url: proxy.url,
    proxy,
    key,
    admin,
    async token(email, more = {}) {
      const { secret } = await admin.query(
        call('Create', call('Tokens'), {
          instance: call('Select', 'ref', call('Get', user(email))),
          ...more,
        }),
      );
      return String(secret);
    },
    async ended() {
      await admin.close({ force: true });
      await proxy.close();
      const exit = once(hub.child, 'exit');
      hub.child.kill('SIGKILL');
      await exit;
    },
  };
}

async function startHub(
  args: readonly string[],
): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const program = [join(root, 'scripts/hub.mjs'), 'hub', '--port', '0', '--data', 'memory:'];
  const free = [
    '--cors',
    '*',
    '--rate',
    '0',
    '--rate-address',
    '0',
    '--sockets-per-address',
    '1000',
  ];
  const env = { ...process.env, BURROW_ROOT_SECRET: ROOT_SECRET };
  const child = spawn(process.execPath, [...program, ...free, ...args], {
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
  return { url, child };
}

/** Notes that anybody may write, but none whose text is `forbidden`; what only Alice may read. @returns secret of a client key */
async function furnish(admin: DriverClient): Promise<string> {
  await admin.query(
    call('Do', ...['users', 'notes', 'secrets'].map((name) => call('CreateCollection', { name }))),
  );
  await admin.query(
    call('CreateIndex', {
      name: 'users_by_email',
      source: call('Collection', 'users'),
      terms: [{ field: ['data', 'email'] }],
      unique: true,
      // For whoever logs in with the client key.
      permissions: { read: 'public' },
    }),
  );
  await admin.query(
    call('CreateIndex', {
      name: 'notes_by_slug',
      source: notes(),
      terms: [{ field: ['data', 'slug'] }],
      unique: true,
    }),
  );
  for (const email of ['alice@example.org', 'bob@example.org'])
    await admin.query(
      call('Create', call('Collection', 'users'), {
        data: { email },
        credentials: { password: PASSWORD },
      }),
    );
  await admin.query(
    call('CreateRole', {
      name: 'people',
      membership: [{ resource: call('Collection', 'users') }],
      privileges: [
        {
          resource: notes(),
          actions: { read: true, write: true, create: true, delete: true, history_read: true },
        },
        { resource: call('Index', 'notes_by_slug'), actions: { read: true } },
      ],
    }),
  );
  const { secret } = await admin.query(call('CreateKey', { role: 'client' }));
  return String(secret);
}
