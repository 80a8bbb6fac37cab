/** The hub as a separate process, built from these sources, for tests that kill, stop or overload it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleHub } from '../../scripts/bundle-hub.mjs';
import { quickPglite } from '../../scripts/quick-pglite.mjs';
import { preparedImage } from './prepared-pglite.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
export const ROOT_SECRET = 'burrow-root-of-a-test-hub-which-is-known';

export interface HubProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** The output of the process: lines for the operator, and its log. */
  readonly said: () => string;
  /** Resolves when the process has ended. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  readonly query: (query: unknown) => Promise<{ readonly status: number; readonly body: HubBody }>;
}

export interface HubBody {
  readonly resource?: unknown;
  readonly errors?: readonly { readonly code: string }[];
}

let built: Promise<string> | undefined;

/** Bundles the hub with failpoints, in a folder from which its packages can be imported. */
export function buildTestHub(): Promise<string> {
  built ??= (async () => {
    const folder = join(root, 'node_modules/.cache/burrow', `hub-test-${process.pid}`);
    await bundleHub(folder, { packages: 'outside', failpoints: true });
    return folder;
  })();
  return built;
}

export async function removeTestHub(): Promise<void> {
  if (built) await rm(await built, { recursive: true, force: true });
}

export const makeFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'burrow-hub-'));

export interface ProcessOptions {
  readonly args: readonly string[];
  readonly nodeArgs?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs any command of `burrow`. */
export async function runBurrow({ args, nodeArgs = [], environment = {} }: ProcessOptions) {
  const main = join(await buildTestHub(), 'main.mjs');
  const child = spawn(process.execPath, [...quickPglite, ...nodeArgs, main, ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'], BURROW_ROOT_SECRET: ROOT_SECRET, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', (part) => (said += String(part)));
  child.stderr.on('data', (part) => (said += String(part)));
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  return { child, said: () => said, exited };
}

/** Tests send requests faster than people do, on machines that may be busy with other work. */
const UNLIMITED = [
  '--rate=0',
  '--rate-address=0',
  '--query-timeout=120000',
  '--query-timeout-max=120000',
];

/** Makes a database in memory begin as a copy of a prepared one, because PGlite takes seconds to create one. */
const COPYING_DATABASE = `data:text/javascript,${encodeURIComponent(`
  import { readFileSync } from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  import threads from 'node:worker_threads';
  const { Worker } = threads;
  const preparedOf = (options) => {
    if (options?.workerData?.dataDir !== 'memory://') return options;
    const loadDataDir = new Blob([readFileSync(process.env.PREPARED_PGLITE)]);
    return { ...options, workerData: { ...options.workerData, loadDataDir } };
  };
  threads.Worker = class extends Worker {
    constructor(file, options) {
      super(file, preparedOf(options));
    }
  };
  syncBuiltinESMExports();
`)}`;

async function withPrepared(options: ProcessOptions): Promise<ProcessOptions> {
  if (!options.args.includes('memory:')) return options;
  return {
    ...options,
    nodeArgs: ['--import', COPYING_DATABASE, ...(options.nodeArgs ?? [])],
    environment: { ...options.environment, PREPARED_PGLITE: await preparedImage() },
  };
}

/** Starts `burrow hub` on a free port. Rejects if it ends before it listens. */
export async function startHub(options: ProcessOptions): Promise<HubProcess> {
  const args = ['hub', '--port', '0', ...UNLIMITED, ...options.args];
  const running = await runBurrow(await withPrepared({ ...options, args }));
  const url = await new Promise<string>((resolve, reject) => {
    const look = (): void => {
      const found = /burrow hub listening on (\S+)/.exec(running.said());
      if (found?.[1] !== undefined) resolve(found[1]);
    };
    running.child.stdout?.on('data', look);
    void running.exited.then(() => reject(new Error(`The hub ended: ${running.said()}`)));
  });
  return {
    ...running,
    url,
    async query(query) {
      const headers = { authorization: `Bearer ${ROOT_SECRET}`, 'x-faunadb-api-version': '4' };
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(query) });
      return { status: answer.status, body: (await answer.json()) as HubBody };
    },
  };
}
