/** The commands of `burrow`. */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { VERSION } from '../../hosts/build.ts';
import type { OnClash } from '../../src/data/write-batches.ts';
import { createKey } from '../operations/create-key.ts';
import { exportToFile, importFile } from '../operations/data.ts';
import { dumpStore, loadStore } from '../operations/dump.ts';
import { OperationFault } from '../operations/fill-store.ts';
import { importLines } from '../operations/import-lines.ts';
import { moveStore } from '../operations/move.ts';
import {
  baseUrl,
  postgresUrl,
  SettingsFault,
  TENANT_DEFAULT,
  tenantName,
  type Parse,
} from '../settings/option-values.ts';
import { addSettings, parsed, readSettings } from '../settings/read-settings.ts';
import { openHubStore, storePlaceOf, type HubStore, type StorePlace } from '../store/open-store.ts';
import { withSchemaProgram } from './schema-commands.ts';
import { serve } from './serve.ts';

export interface ProgramHost {
  /** Prints a line for the operator. */
  readonly say: (sentence: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Registers what ends the process in order. */
  readonly onStop: (stop: () => Promise<void>) => void;
}

type Flags = Readonly<Record<string, unknown>>;

export function createProgram(host: ProgramHost): Command {
  const program = new Command('burrow')
    .description('Burrow: an offline document database that speaks FQL v4')
    .version(VERSION);
  addHub(program, host);
  addKey(program, host);
  addDump(program, host);
  addLoad(program, host);
  addMove(program, host);
  addExport(program, host);
  addImport(program, host);
  addSchema(program, host);
  addTypes(program, host);
  return program;
}

function addHub(program: Command, host: ProgramHost): void {
  addSettings(program.command('hub').description('serve databases over HTTP')).action(
    async (flags: Flags) => {
      const running = await serve(readSettings(flags, host.environment), host.say);
      host.onStop(() => running.stop());
      host.say(`burrow hub listening on ${running.url}`);
    },
  );
}

/** For options that hold no secret: commander quotes the value when it is invalid. */
const argParser =
  <T>(parse: Parse<T>) =>
  (text: string): T => {
    try {
      return parse(text);
    } catch (reason) {
      throw reason instanceof SettingsFault ? new InvalidArgumentError(reason.message) : reason;
    }
  };

const urlOption = (): Option =>
  new Option('--url <url>', 'URL of a running hub [BURROW_URL]')
    .argParser(argParser(baseUrl))
    .default('http://127.0.0.1:8443')
    .env('BURROW_URL');

const ROLES = 'admin, server, server-readonly, client or the name of a role';

const roleName: Parse<string> = (text) => {
  if (/^[\p{L}\p{N}_+@$.!~%;-]+$/u.test(text)) return text;
  throw new SettingsFault(`expected ${ROLES}`);
};

function addKey(program: Command, { say }: ProgramHost): void {
  program
    .command('key')
    .description('manage keys of a running hub')
    .command('create')
    .description('create a key and print its secret, once')
    .option('--database <path>', 'names of databases from the root, separated by slashes', '')
    .requiredOption('--role <role>', ROLES, argParser(roleName))
    .option('--name <text>', 'stored in the data of the key')
    .option('--make-database', 'create missing databases of the path', false)
    .addOption(urlOption())
    .addOption(
      new Option('--root-secret <secret>', 'root secret of the hub [BURROW_ROOT_SECRET]')
        .env('BURROW_ROOT_SECRET')
        .makeOptionMandatory(),
    )
    .action(async (flags: Flags) => {
      const secret = await createKey({
        url: String(flags['url']),
        rootSecret: String(flags['rootSecret']),
        database: String(flags['database']),
        role: String(flags['role']),
        name: typeof flags['name'] === 'string' ? flags['name'] : undefined,
        makeDatabases: flags['makeDatabase'] === true,
      });
      say(secret);
    });
}

function addDump(program: Command, host: ProgramHost): void {
  const dump = program.command('dump <file>').description('write all data of a hub to a file');
  addSettings(dump, PLACE).action(async (file: string, flags: Flags) => {
    const opening = openHubStore({
      at: placeIn(flags, host),
      mustExist: true,
      isReadOnly: true,
      say: host.say,
    });
    await withStore(opening, async ({ store, describe }) => {
      const rows = await dumpStore(store, file, () => new Date(), progress(host, 'dumped'));
      host.say(`Dumped ${rows} rows of ${describe} to ${file}.`);
    });
  });
}

function addLoad(program: Command, host: ProgramHost): void {
  const load = program
    .command('load <file>')
    .description('fill an empty store from a dump; its data get a new epoch');
  addSettings(load, PLACE).action(async (file: string, flags: Flags) => {
    // Before a store is made for it.
    requireFile(file);
    const opening = openHubStore({ at: placeIn(flags, host), say: host.say });
    await withStore(opening, async ({ store, describe }) => {
      const rows = await loadStore(store, file, progress(host, 'loaded'));
      host.say(`Loaded ${rows} rows into ${describe}.`);
    });
  });
}

function addMove(program: Command, host: ProgramHost): void {
  program
    .command('move')
    .description('copy the data of a stopped hub to another store and verify the copy')
    .requiredOption('--from <location>', 'folder or postgres:// URL')
    .requiredOption('--to <location>', 'folder or postgres:// URL; must be empty')
    .option('--from-tenant <name>', 'tenant to copy, of a PostgreSQL database', TENANT_DEFAULT)
    .option('--to-tenant <name>', 'tenant to make, in a PostgreSQL database', TENANT_DEFAULT)
    .action(async (flags: Flags) => {
      const from = placeOfMove(flags, 'from');
      const to = placeOfMove(flags, 'to');
      const { say } = host;
      await withStore(openHubStore({ at: from, mustExist: true, say }), (source) =>
        withStore(openHubStore({ at: to, say }), async (target) => {
          const on = { copied: progress(host, 'copied'), verified: progress(host, 'verified') };
          const { rows, sha256 } = await moveStore(
            source.store,
            target.store,
            target.describe,
            (task, count) => on[task](count),
          );
          say(
            `Copied ${rows} rows from ${source.describe} to ${target.describe} and verified them.`,
          );
          say(`SHA-256 of both: ${sha256}`);
        }),
      );
    });
}

const PLACE = ['data', 'postgres', 'tenant'] as const;

const placeIn = (flags: Flags, { environment }: ProgramHost): StorePlace =>
  storePlaceOf(readSettings(flags, environment));

function placeOfMove(flags: Flags, end: 'from' | 'to'): StorePlace {
  const where = String(flags[end]);
  const tenant = parsed(tenantName, String(flags[`${end}Tenant`]), `--${end}-tenant`);
  if (where.includes('://')) return { postgres: parsed(postgresUrl, where, `--${end}`), tenant };
  if (tenant !== TENANT_DEFAULT)
    throw new SettingsFault(
      `--${end}-tenant needs a postgres:// URL: a folder holds the data of one hub.`,
    );
  return { data: where };
}

async function withStore(
  opening: Promise<HubStore>,
  work: (opened: HubStore) => Promise<void>,
): Promise<void> {
  const opened = await opening;
  try {
    await work(opened);
  } finally {
    await opened.close();
  }
}

const PROGRESS_MS = 1000;

/** Reports once a second. */
function progress({ say }: ProgramHost, done: string, what = 'rows'): (count: number) => void {
  let reportedMs = performance.now();
  return (count) => {
    if (performance.now() - reportedMs < PROGRESS_MS) return;
    reportedMs = performance.now();
    say(`${count} ${what} ${done}.`);
  };
}

const secretOption = (): Option =>
  new Option('--secret <secret>', 'admin or server key of the database [BURROW_SECRET]')
    .env('BURROW_SECRET')
    .makeOptionMandatory();

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

function addExport(program: Command, host: ProgramHost): void {
  program
    .command('export <file>')
    .description('write schema and documents of a database of a running hub to a file')
    .addOption(urlOption())
    .addOption(secretOption())
    .option('--history', 'also the versions before the present ones', false)
    .action(async (file: string, flags: Flags) => {
      let documents = 0;
      const report = progress(host, 'exported', 'documents');
      await exportToFile({
        url: String(flags['url']),
        secret: String(flags['secret']),
        file,
        history: flags['history'] === true,
        onProgress: ({ done }) => {
          documents = done;
          report(done);
        },
      });
      host.say(`Exported ${documents} documents to ${file}.`);
    });
}

const onClash: Parse<OnClash> = (text) => {
  if (text === 'refuse' || text === 'skip' || text === 'replace') return text;
  throw new SettingsFault('expected refuse, skip or replace');
};

function addImport(program: Command, host: ProgramHost): void {
  program
    .command('import <path>')
    .description(
      'import a file of burrow export, a .jsonl or .csv file, or a folder with schema.jsonl (queries) and <collection>.jsonl (documents)',
    )
    .addOption(urlOption())
    .addOption(secretOption())
    .option('--dry-run', 'of a folder: read everything and write nothing', false)
    .option('--keep-ts', 'of a folder: keep the time of the last change of each document', false)
    .option('--collection <name>', 'of a .jsonl or .csv file: where its documents are created')
    .option('--id <name>', 'of a .jsonl or .csv file: member or column with the id')
    .option(
      '--on-clash <what>',
      'of a file: what becomes of documents that exist with other contents: refuse, skip or replace',
      argParser(onClash),
      'refuse',
    )
    .action((path: string, flags: Flags) =>
      statSync(path, { throwIfNoEntry: false })?.isDirectory()
        ? importFolder(path, flags, host)
        : importOneFile(path, flags, host),
    );
}

function requireFile(file: string): void {
  if (!existsSync(file)) throw new OperationFault(`There is no file ${file}.`);
}

async function importOneFile(file: string, flags: Flags, host: ProgramHost): Promise<void> {
  requireFile(file);
  const reports = {
    exporting: () => undefined,
    checking: progress(host, 'checked', 'documents'),
    importing: progress(host, 'imported', 'documents'),
  };
  const result = await importFile({
    url: String(flags['url']),
    secret: String(flags['secret']),
    file,
    onClash: onClash(String(flags['onClash'])),
    collection: textOf(flags['collection']),
    id: textOf(flags['id']),
    onProgress: ({ phase, done }) => reports[phase](done),
  });
  const { imported, same, kept, replaced, expired, omitted } = result;
  const others = [
    `${same} exist already`,
    ...(kept > 0 ? [`${kept} kept as they were`] : []),
    ...(replaced > 0 ? [`${replaced} replaced`] : []),
    ...(expired > 0 ? [`${expired} expired`] : []),
  ];
  host.say(`${imported} imported, ${others.join(', ')}.`);
  if (omitted.length > 0) host.say(`Not in the export: ${omitted.join(', ')}.`);
}

async function importFolder(folder: string, flags: Flags, { say }: ProgramHost): Promise<void> {
  const { imported, existing, rejected } = await importLines({
    url: String(flags['url']),
    secret: String(flags['secret']),
    folder,
    dryRun: flags['dryRun'] === true,
    keepTs: flags['keepTs'] === true,
    onProgress: say,
  });
  say(`${imported} imported, ${existing} exist already, ${rejected} rejected.`);
  if (rejected > 0)
    throw new OperationFault(
      'Rejected lines are listed in import-report.jsonl, or above in a dry run.',
    );
}

function addSchema(program: Command, host: ProgramHost): void {
  const schema = program
    .command('schema')
    .description(
      'compare a database of a running hub with the schema of a module, or bring it there',
    );
  const request = (file: string, flags: Flags) => ({
    url: String(flags['url']),
    secret: String(flags['secret']),
    file: resolve(file),
    allowLoss: (textOf(flags['allowLoss']) ?? '').split(',').filter(Boolean),
    say: host.say,
  });
  schema
    .command('diff <module>')
    .description('say what apply would change; ends with 1 if there is anything')
    .addOption(urlOption())
    .addOption(secretOption())
    .action(async (file: string, flags: Flags) => {
      const changes = await withSchemaProgram((commands) => commands.diff(request(file, flags)));
      if (changes > 0) throw new OperationFault(`${changes} to apply.`);
    });
  schema
    .command('apply <module>')
    .description('make the changes, and run the data steps that are new')
    .addOption(urlOption())
    .addOption(secretOption())
    .option('--allow-loss <collections>', 'may lose documents or history, separated by commas')
    .action(async (file: string, flags: Flags) => {
      await withSchemaProgram((commands) => commands.apply(request(file, flags)));
    });
}

function addTypes(program: Command, host: ProgramHost): void {
  program
    .command('types')
    .description('write types of the documents and indexes of a database that has no schema module')
    .addOption(urlOption())
    .addOption(secretOption())
    .option('--out <file>', 'where to', 'burrow-types.ts')
    .action(async (flags: Flags) => {
      const out = String(flags['out']);
      const asked = { url: String(flags['url']), secret: String(flags['secret']) };
      const text = await withSchemaProgram((commands) => commands.types(asked));
      writeFileSync(out, text);
      host.say(`Types written to ${out}.`);
    });
}
