/** Test kit: a separate PostgreSQL server in its own folder, on a free port. */
import { execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { existsSync } from 'node:fs';
import { freePort } from '../../scripts/free-port.mjs';

const run = promisify(execFile);

export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  /** `pg_ctl restart -m immediate`: the server recovers as after a crash. */
  restart(): Promise<void>;
  /** Stops the server's processes while `meanwhile` runs. */
  pause(meanwhile: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** The user who runs the server, because PostgreSQL refuses to run as root. */
interface Runner {
  readonly uid: number;
  readonly gid: number;
}

const SETTINGS = [
  // The data of a test may be lost in a crash of the machine.
  '-c fsync=off',
  '-c max_connections=200',
  '-c shared_buffers=64MB',
  '-c listen_addresses=127.0.0.1',
  '-c unix_socket_directories=',
];

export async function startPostgres(): Promise<PostgresServer> {
  const programs = await findPrograms();
  const runner = await findRunner();
  const folder = await mkdtemp(join(tmpdir(), 'burrow-postgres-'));
  if (runner) await chown(folder, runner.uid, runner.gid);
  const data = join(folder, 'data');
  const port = await freePort();
  const options = [...SETTINGS, `-p ${port}`].join(' ');
  const call = (program: string, args: readonly string[]) =>
    run(join(programs, program), [...args], { cwd: folder, ...runner });
  await call('initdb', [
    '-D',
    data,
    '-U',
    'burrow',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '-N',
  ]);
  const control = (...args: string[]) =>
    call('pg_ctl', ['-D', data, '-w', '-t', '300', '-l', join(folder, 'log'), ...args]);
  await control('-o', options, 'start');
  return {
    url: `postgres://burrow@127.0.0.1:${port}/postgres`,
    port,
    async restart() {
      await control('-o', options, '-m', 'immediate', 'restart');
    },
    async pause(meanwhile) {
      await control('-m', 'immediate', 'stop');
      try {
        await meanwhile();
      } finally {
        await control('-o', options, 'start');
      }
    },
    async stop() {
      await control('-m', 'immediate', 'stop');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * `npm test` has found the programs and passes their folder. A single test that is run by hand looks in the folders of
 * distribution packages.
 */
async function findPrograms(): Promise<string> {
  const versions = await readdir('/usr/lib/postgresql').catch(() => []);
  const places = [
    process.env['BURROW_POSTGRES_BIN'] ?? '',
    ...versions
      .toSorted((a, b) => Number(b) - Number(a))
      .map((version) => `/usr/lib/postgresql/${version}/bin`),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  const found = places.find((place) => place !== '' && existsSync(join(place, 'initdb')));
  if (found !== undefined) return found;
  throw new Error(
    'No PostgreSQL server was found: run npm test, which installs one, or set BURROW_POSTGRES_BIN to the folder of its initdb.',
  );
}

async function findRunner(): Promise<Runner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const user of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, user])));
      return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
    } catch {
      // This user does not exist on this machine.
    }
  }
  throw new Error('PostgreSQL refuses to run as root, and there is no user postgres or nobody.');
}
