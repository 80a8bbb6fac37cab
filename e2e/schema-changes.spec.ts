/** The schema of an app changes three times on a device with data, with tabs of old builds open and without network: nothing is lost. */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, type Page } from '@playwright/test';
import { hubFolder } from '../scripts/bundle-hub.mjs';
import { call, notes, type SyncHub } from './support/sync-hub.ts';
import { openSynced, shownIn, submitNote, writesIn } from './support/sync-page.ts';
import { ALICE, test } from './support/sync-test.ts';

const NOTES = 300;

declare global {
  var client: ReturnType<typeof db.client>;
}

interface Migrated {
  readonly code?: string;
  readonly message?: string;
  readonly from?: number;
  readonly pieces: number;
}

/** Migrates, as a page of this build does first. @returns the outcome */
const migrate = (page: Page, version: number, allowLoss: readonly string[] = []) =>
  page.evaluate(
    async ({ version, allowLoss }): Promise<Migrated> => {
      const { builds, migrate: migrateTo } = await loadBuilds();
      const build = builds[version];
      if (!build) throw new Error(`There is no build ${version}.`);
      let pieces = 0;
      try {
        const { schema, ...ofBuild } = build;
        const { from } = await migrateTo(db, schema, {
          ...ofBuild,
          allowLoss,
          onProgress: ({ phase }) => (pieces += phase === 'step' ? 1 : 0),
        });
        return { from, pieces };
      } catch (error) {
        const { code, message } = error as { readonly code?: string; readonly message: string };
        return { code: code ?? 'none', message, pieces };
      }
    },
    { version, allowLoss },
  );

const open = (page: Page) =>
  page.evaluate(async () => {
    globalThis.db = await burrow.openDatabase('device');
    globalThis.client = db.client();
    // Loaded now, because the network is turned off later.
    await loadBuilds();
  });

/** Creates notes, as all builds do. */
const add = (page: Page, ...texts: readonly string[]) =>
  page.evaluate(async (texts) => {
    const { q } = burrow;
    const create = (text: unknown) =>
      q.Create(q.Collection('notes'), { data: { text: text as string, kind: 'bird' } });
    await client.query(q.Foreach([...texts], create));
  }, texts);

/** The other fields of all notes, by text. */
const stored = (page: Page): Promise<Record<string, unknown>> =>
  page.evaluate(async () => {
    const { q } = burrow;
    const all = q.Map(q.Paginate(q.Documents(q.Collection('notes')), { size: 1000 }), (ref) =>
      q.Select('data', q.Get(ref)),
    );
    const { data } = (await client.query(all)) as unknown as {
      readonly data: readonly { readonly text: string }[];
    };
    return Object.fromEntries(data.map(({ text, ...more }) => [text, more]));
  });

/** Reads by the index and by the function of the page's build. */
const readByIndex = (page: Page) =>
  page.evaluate(async () => {
    const { q } = burrow;
    const set = q.Match(q.Index('notes_by_kind'), 'bird');
    const first = await client.query(q.Select(['data', 0], q.Paginate(set)));
    return {
      found: await client.query(q.Count(set)),
      counted: await client.query(q.Call(q.Function('count'))),
      shows: Array.isArray(first) ? 'text and ref' : 'ref',
    };
  });

const title = (n: number): string => `note ${String(n).padStart(3, '0')}`;
const titles = Array.from({ length: NOTES }, (_, n) => title(n));

test('three schema changes on an offline device, with two migrating tabs and an old tab that writes, lose nothing', async ({
  profile,
}) => {
  const old = await profile.openTab();
  await open(old);
  expect(await migrate(old, 1)).toMatchObject({ from: 0 });
  await add(old, ...titles);
  await old.evaluate(() =>
    client.query(burrow.q.Create(burrow.q.Collection('drafts'), { data: { text: 'a draft' } })),
  );
  expect(await readByIndex(old)).toEqual({ found: NOTES, counted: NOTES, shows: 'ref' });
  const tabs = [await profile.openTab(), await profile.openTab(), await profile.openTab()];
  const [two, three, four] = tabs as [Page, Page, Page];
  for (const tab of tabs) await open(tab);
  await (await profile.start()).setOffline(true);

  // Build 2: the index gets a further value. It is rebuilt beside the old one while the old tab reads and writes.
  const [second] = await Promise.all([migrate(two, 2), add(old, 'while 2')]);
  expect(second).toMatchObject({ from: 1 });
  expect(await readByIndex(two)).toEqual({
    found: NOTES + 1,
    counted: NOTES + 1,
    shows: 'text and ref',
  });
  // The old tab works with the newer schema; when it migrates, the error says that its program is older.
  expect(await readByIndex(old)).toMatchObject({ found: NOTES + 1 });
  expect(await migrate(old, 1)).toMatchObject({
    code: 'newer_schema',
    message: expect.stringMatching(/version 2.*version 1.*load the newer program/),
  });
  await add(old, 'after 2');

  // Build 3: notes get a state, in batches. Two tabs migrate at the same time.
  const both = await Promise.all([migrate(three, 3), migrate(four, 3), add(old, 'while 3')]);
  expect(both.slice(0, 2)).toEqual([
    expect.objectContaining({ pieces: expect.any(Number) }),
    expect.objectContaining({ pieces: expect.any(Number) }),
  ]);
  for (const each of both.slice(0, 2)) expect(each).not.toHaveProperty('code');
  const afterThree = await stored(three);
  expect(Object.keys(afterThree).toSorted()).toEqual(
    [...titles, 'while 2', 'after 2', 'while 3'].toSorted(),
  );
  // All existing notes have the state. A note that an old build writes during the migration may miss its batch.
  const { 'while 3': _, ...migrated } = afterThree;
  expect(new Set(Object.values(migrated).map((each) => JSON.stringify(each)))).toEqual(
    new Set([JSON.stringify({ kind: 'bird', state: 'open' })]),
  );
  // The step was executed once: each note has exactly the versions of one execution.
  const versions = await three.evaluate(async () => {
    const { q } = burrow;
    const note = q.Select(['data', 0], q.Paginate(q.Documents(q.Collection('notes'))));
    return client.query(q.Count(q.Select('data', q.Paginate(q.Events(note)))));
  });
  expect(versions).toBe(2);

  // Build 4 removes drafts. The migration is refused, with its plan, and nothing changes. Then the loss is allowed.
  const refused = await migrate(four, 4);
  expect(refused).toMatchObject({
    code: 'data_loss',
    message: expect.stringMatching(/remove collection drafts; this loses its documents/),
  });
  expect(await migrate(four, 3)).toMatchObject({ from: 3 });
  expect(
    await four.evaluate(() =>
      client.query(burrow.q.Count(burrow.q.Documents(burrow.q.Collection('drafts')))),
    ),
  ).toBe(1);
  const fourth = await Promise.all([
    migrate(four, 4, ['drafts']),
    migrate(two, 4, ['drafts']),
    add(old, 'while 4'),
  ]);
  for (const each of fourth.slice(0, 2)) expect(each).not.toHaveProperty('code');
  expect(
    await four.evaluate(() => client.query(burrow.q.Exists(burrow.q.Collection('drafts')))),
  ).toBe(false);
  // The collection that the old tab needs is gone: its query fails with a specific error, and the database stays intact.
  const gone = await old.evaluate(() =>
    client
      .query(burrow.q.Count(burrow.q.Documents(burrow.q.Collection('drafts'))))
      .then(String, ({ code }: { readonly code: string }) => code),
  );
  expect(gone).toBe('invalid ref');
  await add(old, 'after 4');
  const all = [...titles, 'while 2', 'after 2', 'while 3', 'while 4', 'after 4'].toSorted();
  expect(Object.keys(await stored(old)).toSorted()).toEqual(all);
  expect(await four.evaluate(() => db.verify())).toEqual([]);

  // All of it is on disk: a browser that is killed and restarted has it.
  await profile.kill();
  const again = await profile.openTab();
  await open(again);
  expect(Object.keys(await stored(again)).toSorted()).toEqual(all);
  expect(await migrate(again, 4)).toMatchObject({ from: 4, pieces: 0 });
  expect(await readByIndex(again)).toEqual({
    found: all.length,
    counted: all.length,
    shows: 'text and ref',
  });
  expect(await again.evaluate(() => db.verify())).toEqual([]);
});

/** Runs `burrow schema apply` with the module of a build. @returns its output */
async function apply(hub: SyncHub, version: number, ...more: readonly string[]): Promise<string> {
  const folder = process.env['BURROW_E2E_PACKAGE'] ?? '';
  const file = join(folder, `build-${version}-${process.pid}.mjs`);
  const from = pathToFileURL(join(folder, 'builds.mjs')).href;
  const text = `import { builds } from ${JSON.stringify(from)};
    export const { schema, version, steps } = builds[${version}];`;
  await writeFile(file, text);
  const args = [
    'schema',
    'apply',
    file,
    '--url',
    hub.direct.url,
    '--secret',
    hub.direct.secret,
    ...more,
  ];
  const program = [join(hubFolder, 'main.mjs'), ...args];
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, program);
    return stdout + stderr;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    return stdout + stderr;
  } finally {
    await rm(file);
  }
}

/** The other fields of all notes at the hub, by text. */
async function atHub(hub: SyncHub): Promise<Record<string, unknown>> {
  const { data } = await hub.admin.query(
    call(
      'Map',
      call('Paginate', call('Documents', notes()), { size: 1000 }),
      call('Lambda', 'n', call('Select', 'data', call('Get', call('Var', 'n')))),
    ),
  );
  return Object.fromEntries((data as { text: string }[]).map(({ text, ...more }) => [text, more]));
}

const synced = (page: Page): Promise<Record<string, unknown>> =>
  page.evaluate(async () => {
    globalThis.client = sync.client;
    const { q } = burrow;
    const all = q.Map(q.Paginate(q.Documents(q.Collection('notes')), { size: 1000 }), (ref) =>
      q.Select('data', q.Get(ref)),
    );
    const { data } = (await client.query(all)) as unknown as {
      readonly data: readonly { readonly text: string }[];
    };
    return Object.fromEntries(data.map(({ text, ...more }) => [text, more]));
  });

test('after three schema changes at the hub, offline writes of an old and a new tab get verdicts, and device and hub agree', async ({
  page,
  context,
  hub,
}) => {
  expect(await apply(hub, 1)).toMatch(/version 1; it had 0/);
  await hub.admin.query(
    call('Create', call('Collection', 'drafts'), { data: { text: 'a draft' } }),
  );
  await hub.admin.query(
    call(
      'Foreach',
      titles,
      call(
        'Lambda',
        'text',
        call('Create', notes(), { data: { text: call('Var', 'text'), kind: 'bird' } }),
      ),
    ),
  );
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await page.evaluate(() => sync.whenSynced());
  await expect.poll(async () => (await shownIn(page)).length).toBe(NOTES);

  hub.proxy.set('down');
  const newer = await context.newPage();
  await newer.goto(page.url());
  await newer.waitForFunction(() => 'burrow' in globalThis);
  await openSynced(newer, { url: hub.url });
  const offline: string[] = [];
  const writeBoth = async (when: string): Promise<void> => {
    await submitNote(page, `old ${when}`, { kind: 'bird' });
    await submitNote(newer, `new ${when}`, { kind: 'bird', state: 'open' });
    offline.push(`old ${when}`, `new ${when}`);
  };
  /** Changes a note that also exists at the hub, on the device. */
  const change = (text: string) =>
    page.evaluate(async (text) => {
      const { q } = burrow;
      const all = q.Paginate(q.Documents(q.Collection('notes')), { size: 1000 });
      const found = q.Filter(q.Select('data', all), (ref) =>
        q.Equals(q.Select(['data', 'text'], q.Get(ref)), text),
      );
      await sync.client.submit(q.Update(q.Select(0, found), { data: { seen: true } }));
    }, text);

  await writeBoth('1');
  expect(await apply(hub, 2)).toMatch(/version 2; it had 1/);
  await writeBoth('2');
  await change(title(7));
  expect(await apply(hub, 3)).toMatch(/version 3; it had 2/);
  await writeBoth('3');
  await change(title(8));
  expect(await apply(hub, 4)).toMatch(/would lose data[^]*remove collection drafts/);
  expect(await apply(hub, 4, '--allow-loss', 'drafts')).toMatch(/version 4; it had 3/);
  await writeBoth('4');
  const all = [...titles, ...offline].toSorted();
  expect(await shownIn(newer)).toEqual(all);

  hub.proxy.set('up');
  await page.evaluate(() => sync.whenSettled());
  await newer.evaluate(() => sync.whenSynced());
  for (const each of await writesIn(page)) expect(each.state).toMatch(/^(confirmed|amended)$/);
  const kept = await atHub(hub);
  expect(Object.keys(kept).toSorted()).toEqual(all);
  expect(kept[title(0)]).toEqual({ kind: 'bird', state: 'open' });
  expect(kept[title(7)]).toEqual({ kind: 'bird', state: 'open', seen: true });
  expect(kept[title(8)]).toEqual({ kind: 'bird', state: 'open', seen: true });
  expect(kept['old 1']).toEqual({ kind: 'bird' });
  for (const tab of [page, newer]) await expect.poll(() => synced(tab)).toEqual(kept);
});
