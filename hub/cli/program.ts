/** The commands of `burrow`. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { OperationFault } from '../operations/fill-store.ts';
import { createKey } from '../operations/create-key.ts';
import { dumpStore, loadStore } from '../operations/dump.ts';
import { importLines } from '../operations/import-lines.ts';
import { moveStore } from '../operations/move.ts';
import { hubRoutes } from './routes.ts';
import { serve } from './serve.ts';
import { openHubStore, type HubStore } from '../store/open-store.ts';
import { baseUrl, postgresUrl, rootSecret } from '../settings/option-values.ts';
import { addSettings, readSettings } from '../settings/read-settings.ts';

export interface ProgramHost {
  readonly say: (sentence: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Calls back when the process is told to end. */
  readonly onStop: (stop: () => Promise<void>) => void;
}

type Flags = Readonly<Record<string, unknown>>;

export function createProgram(host: ProgramHost): Command {
  const program = new Command('burrow')
    .description('Burrow: an offline document database that speaks FQL v4')
    .version('0.1.0');
  addSettings(program.command('hub').description('serve databases over HTTP')).action(
    async (flags: Flags) => {
      const running = await serve(readSettings(flags, host.environment), {
        say: host.say,
        routes: hubRoutes,
      });
      host.onStop(() => running.stop());
      host.say(`burrow hub listening on ${running.url}`);
    },
  );
  addKey(program, host);
  addBackup(program, host);
  addMove(program, host);
  addImport(program, host);
  return program;
}

const url = () =>
  new Option('--url <url>', 'a hub that runs [BURROW_URL]')
    .argParser(baseUrl)
    .default('http://127.0.0.1:8443')
    .env('BURROW_URL');

const role = (text: string): string => {
  if (/^[\p{L}\p{N}_+@$.!~%;-]+$/u.test(text)) return text;
  throw new InvalidArgumentError('admin, server, server-readonly, client or the name of a role.');
};

function addKey(program: Command, { say }: ProgramHost): void {
  program
    .command('key')
    .description('keys of a hub that runs')
    .command('create')
    .description('make a key; its secret is printed, this once')
    .option('--database <path>', 'names from the root, by slashes', '')
    .requiredOption(
      '--role <role>',
      'admin, server, server-readonly, client or the name of a role',
      role,
    )
    .option('--name <text>', 'kept in the data of the key')
    .option('--make-database', 'make what is not there on the path', false)
    .addOption(url())
    .addOption(
      new Option('--root-secret <secret>', 'of the hub')
        .argParser(rootSecret)
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
        make: flags['makeDatabase'] === true,
      });
      say(secret);
    });
}

const PLACE = ['data', 'postgres'] as const;

function addBackup(program: Command, host: ProgramHost): void {
  const dump = program.command('dump <file>').description('write all data of a hub to a file');
  addSettings(dump, PLACE).action(async (file: string, flags: Flags) => {
    const isThere = true;
    await withStore({ flags, host, isThere }, async ({ store, describe }) => {
      const rows = await dumpStore(store, file, () => new Date(), progress(host, 'dumped'));
      host.say(`${rows} rows of ${describe} are in ${file}.`);
    });
  });
  const load = program
    .command('load <file>')
    .description('fill an empty store from a file that dump wrote; its data are of a new epoch');
  addSettings(load, PLACE).action(async (file: string, flags: Flags) => {
    const isThere = false;
    await withStore({ flags, host, isThere }, async ({ store, describe }) => {
      const rows = await loadStore(store, file, progress(host, 'loaded'));
      host.say(`${rows} rows are in ${describe}.`);
    });
  });
}

async function withStore(
  to: { readonly flags: Flags; readonly host: ProgramHost; readonly isThere: boolean },
  work: (ground: HubStore) => Promise<void>,
): Promise<void> {
  const { environment, say } = to.host;
  const { data, postgres } = readSettings(to.flags, environment);
  const at = postgres === undefined ? { data } : { postgres };
  const ground = await openHubStore({ at, say, isThere: to.isThere });
  try {
    await work(ground);
  } finally {
    await ground.close();
  }
}

function addMove(program: Command, host: ProgramHost): void {
  program
    .command('move')
    .description('copy a hub that is stopped to another place, and prove that all came along')
    .requiredOption('--from <place>', 'folder or postgres:// URL')
    .requiredOption('--to <place>', 'folder or postgres:// URL; empty')
    .action(async (flags: Flags) => {
      const from = await openPlace(String(flags['from']), host, true);
      try {
        const to = await openPlace(String(flags['to']), host, false);
        try {
          const tell = { copied: progress(host, 'copied'), verified: progress(host, 'verified') };
          const { rows, sha256 } = await moveStore(from.store, to.store, to.describe, (task, n) =>
            tell[task](n),
          );
          host.say(`${rows} rows are in ${to.describe}, the same as in ${from.describe}.`);
          host.say(`SHA-256 of both: ${sha256}`);
        } finally {
          await to.close();
        }
      } finally {
        await from.close();
      }
    });
}

const openPlace = (place: string, { say }: ProgramHost, isThere: boolean): Promise<HubStore> =>
  openHubStore({
    at: place.includes('://') ? { postgres: postgresUrl(place) } : { data: place },
    say,
    isThere,
  });

const PROGRESS_MS = 1000;

/** Says how far it is, once a second. */
function progress({ say }: ProgramHost, done: string): (rows: number) => void {
  let told = performance.now();
  return (rows) => {
    if (performance.now() - told < PROGRESS_MS) return;
    told = performance.now();
    say(`${rows} rows ${done}.`);
  };
}

function addImport(program: Command, { say }: ProgramHost): void {
  program
    .command('import <folder>')
    .description('take over exports: schema.jsonl (queries) and <collection>.jsonl (documents)')
    .addOption(url())
    .addOption(
      new Option('--secret <secret>', 'an admin or server key of the database')
        .env('BURROW_SECRET')
        .makeOptionMandatory(),
    )
    .option('--dry-run', 'read everything and write nothing', false)
    .option('--keep-ts', 'documents keep the time of their last change', false)
    .action(async (folder: string, flags: Flags) => {
      const { documents, already, refused } = await importLines({
        url: String(flags['url']),
        secret: String(flags['secret']),
        folder,
        dryRun: flags['dryRun'] === true,
        keepTs: flags['keepTs'] === true,
        onProgress: say,
      });
      say(`${documents} taken, ${already} there already, ${refused} could not be taken.`);
      if (refused > 0)
        throw new OperationFault('What could not be taken is in import-report.jsonl, or above.');
    });
}
