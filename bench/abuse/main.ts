/** Attacks a hub, with one attack after the other, while an innocent client uses it: `npm run abuse`. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { platform } from 'node:process';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { startPostgres } from '../../hub/testing/postgres-server.ts';
import type { AttackerData } from './attacker.ts';
import { ATTACKS } from './attacks.ts';
import { startHub, type HubUnderAttack } from './hub-under-attack.ts';
import type { Experience, InnocentData } from './innocent.ts';
import { prepare, type Credentials } from './prepare.ts';
import { failuresOf, tableOf, type Outcome } from './report.ts';
import { send } from '../hub/send.ts';
import { SECRET } from '../hub/served.ts';

const [folder = '', file = '', ...rest] = process.argv.slice(2);
const { values } = parseArgs({
  args: rest,
  options: {
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '5' },
    at: { type: 'string', default: '' },
    store: { type: 'string', default: '' },
  },
});
const ATTACK_MS = Number(values.seconds) * 1000;
const chosen = Object.keys(ATTACKS).filter((name) => name.includes(values.only));

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

class Innocent {
  private readonly worker: Worker;

  constructor(data: InnocentData) {
    this.worker = new Worker(join(folder, 'innocent.mjs'), { workerData: data });
  }

  /** What the client observed since the last call. */
  async tell(): Promise<Experience> {
    const told = once(this.worker, 'message');
    this.worker.postMessage('tell');
    const [experience] = (await told) as [Experience];
    return experience;
  }

  async stop(): Promise<void> {
    await this.worker.terminate();
  }
}

/**
 * Real attackers run on other machines. So this one is a process, which shares no locks with the innocent client, and all its threads have
 * the lowest priority on the cores that they share with the hub.
 */
const ON_ANOTHER_MACHINE =
  platform === 'win32' ? {} : { execPath: 'nice', execArgv: ['-n', '19', process.execPath] };

/** Attacks for this time. @returns the attack's responses */
async function attackFor(ms: number, data: AttackerData): Promise<Outcome['answers']> {
  const attacker = fork(join(folder, 'attacker.mjs'), ON_ANOTHER_MACHINE);
  const ended = once(attacker, 'exit');
  try {
    await once(attacker, 'spawn');
    const told = once(attacker, 'message');
    attacker.send(data);
    await pause(ms);
    attacker.send('stop');
    const [answers] = (await Promise.race([told, ended])) as [Outcome['answers'] | number];
    if (typeof answers !== 'object') throw new Error(`The attack "${data.attack}" has failed.`);
    return answers;
  } finally {
    attacker.kill('SIGKILL');
    await ended;
  }
}

async function measureUnderAttack(
  store: string,
  hub: HubUnderAttack,
  credentials: Credentials,
  attack: string,
): Promise<Outcome> {
  const innocent = new Innocent({ port: hub.port, secret: credentials.innocent });
  try {
    await pause(ATTACK_MS / 2);
    await innocent.tell();
    await pause(ATTACK_MS / 2);
    const quiet = await innocent.tell();
    const { memoryBytes: memoryBeforeBytes } = await hub.look();
    const answers = await attackFor(ATTACK_MS, { attack, port: hub.port, credentials });
    const under = await innocent.tell();
    const watched = await hub.look();
    return { store, attack, quiet, under, watched, memoryBeforeBytes, answers };
  } finally {
    await innocent.stop();
  }
}

async function askHub(
  port: number,
  query: unknown,
  secret = SECRET,
): Promise<{ readonly secret?: string }> {
  const body = JSON.stringify(query);
  const { status, text } = await send(port, { secret, body });
  if (status >= 300) throw new Error(`${status}: ${text.slice(0, 500)}`);
  return (JSON.parse(text) as { resource: { secret?: string } }).resource;
}

async function attackAll(store: string, more: readonly string[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const hub = await startHub(folder, more);
  try {
    const credentials = await prepare((query, secret) => askHub(hub.port, query, secret));
    for (const attack of chosen) {
      const outcome = await measureUnderAttack(store, hub, credentials, attack);
      outcomes.push(outcome);
      console.log(`${store}: ${attack}: ${failuresOf(outcome).join(', ') || 'holds'}`);
      console.log(JSON.stringify(outcome));
    }
  } finally {
    await hub.stop();
  }
  return outcomes;
}

async function attackHubs(): Promise<Outcome[]> {
  const data = mkdtempSync(join(tmpdir(), 'burrow-abuse-'));
  try {
    const embedded =
      values.store === 'PostgreSQL'
        ? []
        : await attackAll('PGlite', ['--data', join(data, 'pglite')]);
    if (values.store === 'PGlite') return embedded;
    const server = await startPostgres();
    try {
      return [...embedded, ...(await attackAll('PostgreSQL', ['--postgres', server.url]))];
    } finally {
      await server.stop();
    }
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/** Results of the attacks on the page. They were made before, by the script that can start a browser. */
const pageFile = join(folder, 'page.json');
const outcomes: readonly Outcome[] = [
  ...(existsSync(pageFile) ? (JSON.parse(readFileSync(pageFile, 'utf8')) as Outcome[]) : []),
  ...(values.at === 'page' ? [] : await attackHubs()),
];

const table = tableOf(outcomes);
console.log(table);
if (values.only === '' && values.at === '') {
  const text = `# Attacks on a hub, and on a page

\`npm run abuse\`, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? '?'}, load ${loadavg()[0]?.toFixed(1)}.
Each attack runs for ${ATTACK_MS / 1000} s from an address of its own, with a token without privileges or with no secret, while an
innocent client sends a query and a \`/ping\` every 50 ms. An attack is held off when the p95 of that query is within three times of quiet
(or under 10 ms), the hub's event loop is never blocked for more than 50 ms, the innocent client is refused nothing, and the hub grows
by less than 512 MiB. Attackers, client and hub share the cores. Attackers are other machines in life: here each is a process
of the lowest priority (not on Windows), so that it gets what hub and client leave.

In a page (Chromium), attackers and innocent share the page and its worker. There \`/ping\` is the query \`1\`, and what is blocked is the
page's own thread, by what it sends and gets; memory is that of its process.

${table}
`;
  writeFileSync(file, text);
}
const held = outcomes.filter((outcome) => failuresOf(outcome).length === 0).length;
console.log(`${held} of ${outcomes.length} attacks are held off.`);
process.exitCode = held === outcomes.length ? 0 : 1;
