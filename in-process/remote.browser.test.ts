/** A page that uses a hub without a worker: across origins, with components. */
import { Fragment } from 'react';
import { commands } from 'vitest/browser';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mountIn } from '../src/hooks/testing/react-parts.ts';
import type { Uses } from '../src/hooks/testing/kit.ts';
import { q } from '../src/index.ts';
import { connect, type RemoteDatabase } from './remote.ts';

declare module 'vitest/browser' {
  interface BrowserCommands {
    startHub: (cors: string) => Promise<{ url: string; secret: string }>;
    stopHub: (url: string) => Promise<void>;
  }
}

const notes = q.Collection('notes');
const count = q.Count(q.Documents(notes));
const add = () => q.Create(notes, { data: {} });

let hub: { readonly url: string; readonly secret: string };
let remote: RemoteDatabase;

beforeAll(async () => {
  hub = await commands.startHub(location.origin);
  remote = await connect(hub);
  await remote.client().query(q.CreateCollection({ name: 'notes' }));
});
afterAll(async () => {
  await remote.close();
  await commands.stopHub(hub.url);
});

test('live queries and hooks in a page receive each value', async () => {
  const client = remote.client();
  const received: unknown[] = [];
  client.subscribe(count, { next: (value) => received.push(value) });
  await expect.poll(() => received).toEqual([0]);

  const seen: Uses['query'][] = [];
  const settled: Uses['mutation'][] = [];
  const app = mountIn(Fragment)(
    { database: () => remote.database },
    {
      count: { use: 'query', query: count, report: (used) => seen.push(used) },
      add: { use: 'mutation', query: add, report: (used) => settled.push(used) },
    },
  );
  await expect.poll(() => seen.at(-1)?.value).toBe(0);
  await settled.at(-1)?.run();
  await expect.poll(() => seen.at(-1)?.value).toBe(1);
  expect(settled.at(-1)?.state).toBe('confirmed');
  await expect.poll(() => received).toEqual([0, 1]);
  app.unmount();
});

test('a page with more live queries than browser connections can still send a query', async () => {
  const client = remote.client();
  const values: unknown[] = [];
  for (let i = 0; i < 16; i++) {
    const number = values.length;
    client.subscribe(q.Add(q.Multiply(0, count), i), { next: (value) => (values[number] = value) });
    await expect.poll(() => values[number]).toBe(i);
  }
  expect(await client.query(q.Add(1, 1))).toBe(2);
});

test('if the hub does not allow the origin, the error names the option `--cors`', async () => {
  const other = await commands.startHub('https://elsewhere.example');
  const elsewhere = await connect(other);
  const error = await new Promise((resolve) => {
    elsewhere.client().subscribe(count, { next: resolve, error: resolve });
  });
  expect(error).toMatchObject({
    code: 'hub_unreachable',
    message: expect.stringContaining(`--cors ${location.origin}`),
  });
  await elsewhere.close();
  await commands.stopHub(other.url);
});
