/** Options of `burrow import` that would have no effect are refused before anything is written. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createProgram } from './program.ts';
import { openTestHub, type TestHub } from '../testing/test-hub.ts';
import { runCommand } from '../testing/run-command.ts';

let folder = '';
let hub: TestHub;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'burrow-commands-'));
  hub = await openTestHub();
  await hub.query({ create_collection: { object: { name: 'notes' } } });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

const burrow = (...args: string[]): Promise<string[]> =>
  runCommand(...args, '--url', hub.url, '--secret', hub.secret);

test('a command with a wrong secret reports an unknown secret and does not print it', async () => {
  const flags = ['--role', 'server', '--root-secret', 'mistyped', '--url', hub.url];
  const refused = runCommand('key', 'create', ...flags);
  await expect(refused).rejects.toThrow('unauthorized: the hub does not know this secret.');
  await expect(refused).rejects.not.toThrow('mistyped');
});

test.each(['export', 'import'])('%s with a wrong secret says so', async (command) => {
  const file = join(folder, 'shop.jsonl');
  await writeFile(file, '{}\n');
  const flags = command === 'import' ? ['--collection', 'notes'] : [];
  const refused = runCommand(command, file, ...flags, '--url', hub.url, '--secret', 'mistyped');
  await expect(refused).rejects.toThrow(/^unauthorized: the hub does not know this secret\./);
});

test('a key for a missing role is refused with the name of the role', async () => {
  const flags = ['--role', 'clerk', '--root-secret', hub.secret, '--url', hub.url];
  await expect(runCommand('key', 'create', ...flags)).rejects.toThrow(
    "role: Role 'clerk' does not exist.",
  );
});

test('a schema line that refers to a missing collection is rejected', async () => {
  const into = join(folder, 'export');
  await mkdir(into);
  const index = '{"create_index":{"object":{"name":"all_tags","source":{"collection":"tags"}}}}';
  const tags = '{"create_collection":{"object":{"name":"tags"}}}';
  await writeFile(join(into, 'schema.jsonl'), `${index}\n${tags}\n`);
  await expect(burrow('import', into)).rejects.toThrow(`are in ${into}/import-report.jsonl.`);
  const report = await readFile(join(into, 'import-report.jsonl'), 'utf8');
  expect(
    report
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line)),
  ).toEqual([
    expect.objectContaining({
      file: 'schema.jsonl',
      line: 1,
      description: expect.stringContaining('source'),
    }),
  ]);
});

test('if a collection was rejected, the error for its documents names the report', async () => {
  const into = join(folder, 'export');
  await mkdir(into);
  const tags = '{"create_collection":{"object":{"name":"tags","history_days":"few"}}}';
  await writeFile(join(into, 'schema.jsonl'), `${tags}\n`);
  await writeFile(join(into, 'tags.jsonl'), '{"ref":{"@ref":{"id":"1"}},"data":{}}\n');
  await expect(burrow('import', into)).rejects.toThrow(
    `no collection 'tags' for tags.jsonl: ${into}/import-report.jsonl`,
  );
});

test.each(['export', 'types'])('burrow %s treats an empty variable as unset', async (name) => {
  vi.stubEnv('BURROW_URL', '');
  vi.stubEnv('BURROW_SECRET', '');
  const to = name === 'export' ? [join(folder, 'out')] : ['--out', join(folder, 'out')];
  const program = createProgram({
    say: () => undefined,
    environment: {},
    onStop: () => undefined,
  });
  const command = program.commands.find((each) => each.name() === name);
  command?.exitOverride().configureOutput({ writeErr: () => undefined });
  await expect(program.parseAsync([name, ...to], { from: 'user' })).rejects.toThrow(
    "required option '--secret <secret>' not specified",
  );
  expect(command?.opts()).toMatchObject({ url: 'http://127.0.0.1:8443' });
});

const count = async (): Promise<unknown> =>
  (await hub.query({ count: { documents: { collection: 'notes' } } })).body.resource;

test.each(['--dry-run', '--keep-ts'])('import refuses %s with a file', async (flag) => {
  const file = join(folder, 'notes.jsonl');
  await writeFile(file, '{"n":1}\n');
  const rows = ['import', file, '--collection', 'notes'];
  await expect(burrow(...rows, flag)).rejects.toThrow('--dry-run and --keep-ts need a folder.');
  expect(await count()).toBe(0);
  expect((await burrow(...rows)).at(-1)).toBe('1 imported, 0 exist already.');
});

test.each([
  ['--collection', 'notes'],
  ['--id', 'no'],
  ['--on-clash', 'replace'],
])('import refuses %s with a folder', async (flag, value) => {
  const into = join(folder, 'export');
  await mkdir(into);
  await writeFile(join(into, 'notes.jsonl'), '{"ref":{"@ref":{"id":"1"}},"data":{"n":1}}\n');
  await expect(burrow('import', into, flag, value)).rejects.toThrow('need a file.');
  expect(await count()).toBe(0);
  expect(await burrow('import', into)).toContain('1 imported, 0 exist already, 0 rejected.');
});

test('a dry run says that nothing was imported, and that its rejected lines are listed above', async () => {
  const into = join(folder, 'export');
  await mkdir(into);
  await writeFile(join(into, 'notes.jsonl'), '{"ref":{"@ref":{"id":"1"}},"data":{}}\n');
  expect((await burrow('import', into, '--dry-run')).at(-1)).toBe(
    '1 can be read, 0 rejected. Nothing was imported.',
  );
  await writeFile(join(into, 'others.jsonl'), 'no JSON\n');
  await hub.query({ create_collection: { object: { name: 'others' } } });
  await expect(burrow('import', into, '--dry-run')).rejects.toThrow('are listed above.');
  expect(await count()).toBe(0);
});

test('a clash is explained in the words of the command', async () => {
  const file = join(folder, 'notes.jsonl');
  const rows = ['import', file, '--collection', 'notes', '--id', 'no'];
  await writeFile(file, '{"no":1,"n":1}\n');
  await burrow(...rows);
  await writeFile(file, '{"no":1,"n":2}\n');
  await expect(burrow(...rows)).rejects.toThrow('Choose --on-clash skip or replace, or import');
});

test('an export with history is refused with the flag that it does not allow', async () => {
  const file = join(folder, 'shop.burrow');
  await burrow('export', file, '--history');
  await expect(burrow('import', file, '--on-clash', 'skip')).rejects.toThrow(
    'invalid_option: --on-clash: history cannot be mixed with other documents',
  );
});

test('--delimiter sets the delimiter of a table, whatever the case of its file extension', async () => {
  const file = join(folder, 'Notes.CSV');
  await writeFile(file, 'no:int;n:int\n1;2\n');
  const rows = ['import', file, '--collection', 'notes', '--id', 'no'];
  await expect(burrow(...rows)).rejects.toThrow(
    "invalid_option: --delimiter: 'no:int;n' has no comma.",
  );
  await expect(burrow(...rows, '--delimiter', ';;')).rejects.toThrow(
    'invalid_option: --delimiter must be one character, and no quote.',
  );
  const said = await burrow(...rows, '--delimiter', ';');
  expect(said.at(-1)).toBe('1 imported, 0 exist already.');
  expect(await count()).toBe(1);
});

test.each([
  ['--collection', 'notes'],
  ['--id', 'no'],
  ['--delimiter', ';'],
])('import refuses a file with an unknown extension, also with %s', async (flag, value) => {
  const file = join(folder, 'notes.json');
  await writeFile(file, '{"n":1}\n');
  await expect(burrow('import', file, flag, value)).rejects.toThrow(
    `${file} is no .jsonl, .ndjson or .csv file`,
  );
});

test('--delimiter is only allowed for tables', async () => {
  const file = join(folder, 'notes.jsonl');
  await writeFile(file, '{"n":1}\n');
  await expect(burrow('import', file, '--collection', 'notes', '--delimiter', ';')).rejects.toThrow(
    '--delimiter needs a .csv file.',
  );
});
