/** The commands of `burrow` as processes, from a folder to PostgreSQL; and two hub processes on one PostgreSQL. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedPostgres } from './testing/hub-stores.ts';
import { ROOT_SECRET, runBurrow, type HubProcess } from './testing/hub-process.ts';
import { hubProcesses } from './testing/hub-processes.ts';

const postgres = sharedPostgres();
const { folder, prepared, open } = hubProcesses();
const hubOn = (...args: string[]) => open({ args });

async function stop(hub: HubProcess): Promise<void> {
  hub.child.kill('SIGTERM');
  expect((await hub.exited).code).toBe(0);
}

async function burrow(...args: string[]): Promise<string> {
  const { exited, said } = await runBurrow({ args });
  expect((await exited).code, said()).toBe(0);
  return said();
}

const notes = { collection: 'notes' };
const create = (id: string, n: number) => ({
  create: { ref: notes, id },
  params: { object: { data: { object: { n } } } },
});
const count = { count: { documents: notes } };
const LONG_MS = 600_000;

test('the load of a missing file names it and creates no store', async () => {
  const made = await folder();
  const { exited, said } = await runBurrow({
    args: ['load', join(made, 'missing.gz'), '--data', join(made, 'data')],
  });
  expect((await exited).code).toBe(1);
  expect(said()).toContain('There is no file');
  expect(await readdir(made)).toEqual([]);
});

test('a dump that cannot be written fails with one line', async () => {
  const place = join(await folder(), 'a file');
  await writeFile(place, '');
  const { exited, said } = await runBurrow({
    args: ['dump', join(place, 'backup.gz'), '--data', await prepared()],
  });
  expect((await exited).code).toBe(1);
  expect(said()).toMatch(/^burrow: ENOTDIR: .*open .*backup\.gz/m);
  expect(said()).not.toContain('    at ');
});

test('a dump that cannot write to standard output is complete, and fails with one line', async () => {
  const file = join(await folder(), 'backup.gz');
  const data = await prepared();
  const { child, exited, said } = await runBurrow({ args: ['dump', file, '--data', data] });
  child.stdout.destroy();
  expect((await exited).code).toBe(1);
  expect(said()).toBe('burrow: Cannot write to standard output: write EPIPE\n');
  expect(await readdir(dirname(file))).toEqual(['backup.gz']);
});

test(
  'dump and move refuse a missing store and do not create it',
  async () => {
    const parent = await folder();
    const missing = join(parent, 'burow-data');
    for (const args of [
      ['dump', join(parent, 'backup.gz'), '--data', missing],
      ['move', '--from', missing, '--to', join(parent, 'there')],
    ]) {
      const { exited, said } = await runBurrow({ args });
      expect((await exited).code, said()).toBe(1);
      expect(said()).toContain(`${missing} holds no data of a hub.`);
    }
    expect(await readdir(parent)).toEqual([]);
  },
  LONG_MS,
);

test(
  'the commands dump a hub, load it, move it to PostgreSQL and import into it',
  async () => {
    const [data, restored, exported] = [await prepared(), await folder(), await folder()];
    const first = await hubOn('--data', data);
    await first.query({ create_collection: { object: { name: 'notes' } } });
    for (let i = 1; i <= 5; i++) expect((await first.query(create(String(i), i))).status).toBe(201);
    await stop(first);

    const file = join(await folder(), 'backup.gz');
    expect(await burrow('dump', file, '--data', data)).toMatch(
      /Dumped \d+ rows of PGlite in .* to/,
    );
    expect(await burrow('load', file, '--data', restored)).toMatch(/Loaded \d+ rows into PGlite/);
    const { url } = await postgres();
    expect(await burrow('move', '--from', restored, '--to', url)).toMatch(
      /SHA-256 of both: [0-9a-f]{64}/,
    );
    // After a move, hubs only serve the data from the new store.
    const moved = await runBurrow({ args: ['hub', '--data', restored, '--port', '0'] });
    expect((await moved.exited).code).toBe(1);

    const hub = await hubOn('--postgres', url);
    expect((await hub.query(count)).body.resource).toBe(5);
    await mkdir(exported, { recursive: true });
    const lines = [6, 7].map((id) =>
      JSON.stringify({
        ref: { '@ref': { id: String(id), collection: { '@ref': { id: 'notes' } } } },
        ts: 1_600_000_000_000_000 + id,
        data: { n: id },
      }),
    );
    await writeFile(join(exported, 'notes.jsonl'), `${lines.join('\n')}\n`);
    const to = ['--url', hub.url, '--secret', ROOT_SECRET];
    expect(await burrow('import', exported, ...to, '--dry-run')).toMatch(
      /2 can be read, 0 rejected/,
    );
    expect((await hub.query(count)).body.resource).toBe(5);
    expect(await burrow('import', exported, ...to)).toMatch(/2 imported, 0 exist already/);
    expect((await hub.query(count)).body.resource).toBe(7);
    // Refused because a hub serves the data: its writes after the move would be lost.
    const served = await runBurrow({ args: ['move', '--from', url, '--to', await folder()] });
    expect((await served.exited).code).toBe(1);
    expect(served.said()).toContain('Stop all hubs, and run the move again');
    const key = await burrow('key', 'create', '--role', 'server', '--url', hub.url);
    expect(key.trim()).toMatch(/^[A-Za-z0-9_-]{40}$/);
  },
  LONG_MS,
);

test(
  'hubs of two tenants share one PostgreSQL database and have separate data',
  async () => {
    const { url } = await postgres();
    const acme = ['--postgres', url, '--tenant', 'acme'];
    const [ours, theirs] = [
      await hubOn(...acme),
      await hubOn('--postgres', url, '--tenant', 'zoo'),
    ];
    for (const hub of [ours, theirs])
      await hub.query({ create_collection: { object: { name: 'notes' } } });
    await Promise.all(
      [1, 2, 3].flatMap((n) => [
        ours.query(create(`${n}`, n)),
        theirs.query(create(`${n + 6}`, n)),
      ]),
    );
    await ours.query(create('4', 4));
    expect((await ours.query(count)).body.resource).toBe(4);
    expect((await theirs.query(count)).body.resource).toBe(3);

    const file = join(await folder(), 'acme.gz');
    expect(await burrow('dump', file, ...acme)).toContain('tenant acme');
    await burrow('load', file, '--postgres', url, '--tenant', 'copy');
    const into = await folder();
    await burrow('move', '--from', url, '--from-tenant', 'copy', '--to', into);
    const copied = await hubOn('--data', into);
    expect((await copied.query(count)).body.resource).toBe(4);
    const refused = await runBurrow({
      args: ['move', '--from', into, '--from-tenant', 'acme', '--to', url],
    });
    expect((await refused.exited).code).toBe(1);
    expect(refused.said()).toContain('--from-tenant needs a postgres:// URL');
  },
  LONG_MS,
);

test(
  'a stream of one process reports within a second what another process commits',
  async () => {
    const { url } = await postgres();
    const [here, there] = [await hubOn('--postgres', url), await hubOn('--postgres', url)];
    await here.query({ create_collection: { object: { name: 'live' } } });
    await here.query({ create: { ref: { collection: 'live' }, id: '1' }, params: { object: {} } });
    const stream = await fetch(`${here.url}/stream`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ROOT_SECRET}`, 'x-faunadb-api-version': '4' },
      body: '{"ref":{"collection":"live"},"id":"1"}',
    });
    let received = '';
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const part of stream.body ?? []) received += decoder.decode(part);
    })().catch(() => undefined);
    await expect.poll(() => received).toContain('"type":"start"');
    const times: number[] = [];
    for (let n = 1; n <= 10; n++) {
      const params = { object: { data: { object: { n: 1000 + n } } } };
      const answer = await there.query({
        update: { ref: { collection: 'live' }, id: '1' },
        params,
      });
      expect(answer.status).toBe(200);
      const begun = performance.now();
      await expect.poll(() => received, { interval: 5 }).toContain(`${1000 + n}`);
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    const middle = times[5] ?? Infinity;
    console.log(
      `[figures] another process's commit is reported after ${middle.toFixed(0)} ms (median), ${times[9]?.toFixed(0)} ms at most`,
    );
    expect(middle).toBeLessThan(1000);
    for (const hub of [here, there]) hub.child.kill('SIGKILL');
    await reading;
  },
  LONG_MS,
);
