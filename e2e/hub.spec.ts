/** A page of another origin, with Fauna's original driver unchanged, uses a hub that runs as a separate process. */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { quickPglite } from '../scripts/quick-pglite.mjs';
import { test } from './support/app-test.ts';

const root = join(import.meta.dirname, '..');
const SECRET = 'burrow-root-of-a-test-hub-which-is-known';

let hub: ChildProcess | undefined;
test.afterEach(() => {
  hub?.kill('SIGTERM');
});

/** @returns the hub's URL */
function startHub(...args: string[]): Promise<string> {
  const program = [
    ...quickPglite,
    join(root, 'scripts/hub.mjs'),
    'hub',
    '--port',
    '0',
    '--data',
    'memory:',
    '--query-timeout',
    '30000',
    ...args,
  ];
  const env = { ...process.env, BURROW_ROOT_SECRET: SECRET };
  const child = spawn(process.execPath, program, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  hub = child;
  let said = '';
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (part) => {
      said += String(part);
      const url = /burrow hub listening on (\S+)/.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', () => reject(new Error(`The hub ended: ${said}`)));
  });
}

interface Noted {
  readonly data: { readonly n: number };
}

test('a page with a listed origin queries, counts and streams; a page with another origin reads no response', async ({
  profile,
}) => {
  const page = await profile.openTab();
  const { origin } = new URL(page.url());
  const url = await startHub('--cors', origin);
  const ask = (secret: string) =>
    page.evaluate(
      async ([endpoint, secret]) => {
        const { Client, q: call } = await loadDriver();
        const client = new Client({ secret, endpoint });
        await client.query(call('CreateCollection', { name: 'notes' }));
        const ref = call('Ref', call('Collection', 'notes'), '1');
        await client.query(call('Create', ref, { data: { n: 1 } }));
        const events: string[] = [];
        const stream = client.stream
          .document(ref)
          .on('snapshot', ({ data }: Noted) => void events.push(`snapshot ${data.n}`))
          .on(
            'version',
            ({ document }: { document: Noted }) => void events.push(`version ${document.data.n}`),
          )
          .start();
        while (events.length < 1) await new Promise((resolve) => setTimeout(resolve, 10));
        await client.query(call('Update', ref, { data: { n: 2 } }));
        while (events.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
        stream.close();
        const { metrics } = await client.queryWithMetrics(call('Get', ref));
        return { events, metrics, lastTxnTime: client.getLastTxnTime() };
      },
      [url, secret] as const,
    );
  const result = await ask(SECRET);
  expect(result.events).toEqual(['snapshot 1', 'version 2']);
  expect(result.metrics['x-byte-read-ops']).toBe(1);
  expect(result.lastTxnTime).toBeGreaterThan(1e15);
  hub?.kill('SIGTERM');
  const stranger = await startHub('--cors', 'https://app.example');
  const refused = await page.evaluate(
    async ([endpoint, secret]) => {
      const ping = await fetch(`${endpoint}/ping`).then(
        () => 'read',
        () => 'not read',
      );
      const query = await fetch(endpoint, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}` },
        body: '1',
      }).then(
        () => 'read',
        () => 'not read',
      );
      return [ping, query];
    },
    [stranger, SECRET] as const,
  );
  expect(refused).toEqual(['not read', 'not read']);
});
