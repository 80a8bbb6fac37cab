// A cluster of three machines, simulated on this one, to try what docs/deployment.md describes: each machine is a network namespace with
// etcd, PostgreSQL under Patroni, HAProxy, PgBouncer and a hub. A fourth namespace has the HAProxy that devices connect to. Needs root,
// to create the namespaces.
//
//   node ops/cluster/cluster.mjs up            start the cluster and print its address
//   node ops/cluster/cluster.mjs status        print which machine is the primary, and which hubs respond
//   node ops/cluster/cluster.mjs crash m1      kill all processes of a machine at once; `start m1` starts them again
//   node ops/cluster/cluster.mjs cut m1        disconnect a machine from the network; `join m1` reconnects it
//   node ops/cluster/cluster.mjs upgrade       restart one hub after the other, without a failed request
//   node ops/cluster/cluster.mjs down          stop everything; --erase deletes the data too
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join as pathOf, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureHubPackages } from '../../scripts/hub-packages.mjs';
import {
  ensureClusterPrograms,
  ensureNode,
  ensurePostgres,
  runMain,
  say,
  SetupError,
} from '../../scripts/setup.mjs';
import {
  canMakeNetwork,
  cut,
  join,
  makeNetwork,
  makePlace,
  NETWORK,
  pidsOf,
  removeNetwork,
  removePlace,
  there,
} from './network.mjs';

const HUB_PORT = 8443;
const START_MS = 120_000;
const STOP_MS = 20_000;
const LOOK_MS = 200;
const AS_POSTGRES = ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups'];

/** @typedef {import('./network.mjs').Place} Place */
/** @typedef {Place & { folder: string }} Machine */

/** @param {() => Promise<boolean> | boolean} isSo @param {string} what @param {number} [ms] */
export async function until(isSo, what, ms = START_MS) {
  for (const end = Date.now() + ms; !(await isSo());) {
    if (Date.now() > end) throw new Error(`Timed out after ${ms / 1000} s, waiting for: ${what}.`);
    await new Promise((resolved) => setTimeout(resolved, LOOK_MS));
  }
}

/** Status of the response; 0 if there is no response. @param {string} url */
const statusOf = (url) =>
  fetch(url, { signal: AbortSignal.timeout(2000) })
    .then(async (answer) => {
      await answer.arrayBuffer();
      return answer.status;
    })
    .catch(() => 0);

export class Cluster {
  /** @param {string} folder for data, configuration and logs @param {Record<string, string>} [hubSettings] in addition to `hub.env` */
  constructor(folder, hubSettings = {}) {
    this.hubSettings = hubSettings;
    this.folder = resolve(folder);
    /** @type {Machine[]} */
    this.machines = ['m1', 'm2', 'm3'].map((name, i) => ({
      name,
      address: `${NETWORK}.${i + 1}`,
      folder: pathOf(this.folder, name),
    }));
    /** @type {Machine} */
    this.front = { name: 'front', address: `${NETWORK}.10`, folder: pathOf(this.folder, 'front') };
    this.url = `http://${this.front.address}`;
  }

  get rootSecret() {
    return String(this.secrets().ROOT_SECRET);
  }

  async up() {
    const why = obstacle();
    if (why !== undefined) throw new SetupError(why);
    this.requireOwn();
    this.down();
    makeNetwork();
    for (const place of [...this.machines, this.front]) {
      makePlace(place);
      this.configure(place);
    }
    this.requireReachable();
    for (const machine of this.machines) this.startDatabase(machine);
    await until(async () => (await this.primary()) !== undefined, 'a machine is primary');
    await until(() => this.isReplicated(), 'a standby replicates synchronously');
    for (const machine of this.machines) await this.startHub(machine);
    this.run(this.front, 'haproxy', [this.programs().haproxy, '-f', 'haproxy.cfg'], {});
    for (const machine of this.machines) await this.hubAnswers(machine);
    await until(async () => (await statusOf(`${this.url}/ping`)) === 200, 'HAProxy has a hub');
  }

  /** Whether the cluster that runs on this machine was started from another folder. */
  isOther() {
    const pids = pidsOf(this.front);
    return pids.length > 0 && !pids.includes(this.pid(this.front, 'haproxy'));
  }

  requireOwn() {
    if (this.isOther())
      throw new SetupError(
        'A cluster that was started with another --folder runs on this machine: end it with `npm run cluster -- down` and that one.',
      );
  }

  /** Stops the cluster of this folder. @param {{ erase?: boolean }} [options] */
  down({ erase = false } = {}) {
    if (this.isOther()) return;
    for (const place of [this.front, ...this.machines]) {
      endAll(place, 'SIGTERM');
      waitForEnd(place, STOP_MS);
      endAll(place, 'SIGKILL');
      removePlace(place);
    }
    removeNetwork();
    if (erase) rmSync(this.folder, { recursive: true, force: true });
  }

  /** @param {string} name @returns {Machine} */
  machine(name) {
    const found = this.machines.find((each) => each.name === name);
    if (!found) throw new SetupError(`There is no machine ${name}; there are m1, m2 and m3.`);
    return found;
  }

  /** Kills all processes of a machine at once, as a power failure would. @param {Machine} machine */
  crash(machine) {
    endAll(machine, 'SIGKILL');
    waitForEnd(machine, STOP_MS);
  }

  /** Starts a machine again after a crash. @param {Machine} machine */
  async start(machine) {
    if (pidsOf(machine).length > 0)
      throw new SetupError(`${machine.name} runs: \`crash ${machine.name}\` ends all that does.`);
    this.startDatabase(machine);
    // A hub exits when it finds no database.
    await until(async () => (await this.primary()) !== undefined, 'a machine is primary');
    await this.startHub(machine);
    await this.hubAnswers(machine);
  }

  /** Kills PostgreSQL alone, without a clean shutdown. @param {Machine} machine */
  crashPostgres(machine) {
    process.kill(
      Number(
        readFileSync(pathOf(machine.folder, 'postgres/postmaster.pid'), 'utf8').split('\n')[0],
      ),
      'SIGKILL',
    );
  }

  /** @param {Machine} machine @param {NodeJS.Signals} [signal] */
  endHub(machine, signal = 'SIGTERM') {
    if (this.hubRuns(machine)) process.kill(this.pid(machine, 'hub'), signal);
  }

  /** Compares process ids with those of the machine: after a crash, another program may have got the hub's id. @param {Machine} machine */
  hubRuns(machine) {
    return pidsOf(machine).includes(this.pid(machine, 'hub'));
  }

  /** The hub, bundled once from this checkout. @returns {Promise<string>} path of its program */
  hubProgram() {
    return (this.made ??= (async () => {
      ensureHubPackages();
      const { bundleHub, hubFolder } = await import('../../scripts/bundle-hub.mjs');
      await bundleHub(hubFolder, { packages: 'outside' });
      return pathOf(hubFolder, 'main.mjs');
    })());
  }

  /** @param {Machine} machine @param {Record<string, string>} [more] */
  async startHub(machine, more = {}) {
    const settings = Object.fromEntries(
      readFileSync(pathOf(machine.folder, 'hub.env'), 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    this.run(machine, 'hub', [process.execPath, await this.hubProgram(), 'hub'], {
      env: { ...settings, ...this.hubSettings, ...more },
    });
  }

  /** @param {Machine} machine */
  hubAnswers(machine) {
    const url = `http://${machine.address}:${HUB_PORT}/ping`;
    return until(async () => (await statusOf(url)) === 200, `the hub of ${machine.name} answers`);
  }

  /**
   * Stops the hub and starts it again.
   * @param {Machine} machine @param {Record<string, string>} [more] settings, besides those of all hubs
   */
  async restartHub(machine, more = {}) {
    this.endHub(machine);
    await until(() => !this.hubRuns(machine), `the hub of ${machine.name} has ended`);
    await this.startHub(machine, more);
    await this.hubAnswers(machine);
  }

  /**
   * Restarts one hub after the other: drains it in HAProxy, ends it when its requests are done, starts it and puts it back into the pool.
   */
  async upgrade() {
    for (const machine of this.machines)
      if (!this.hubRuns(machine))
        throw new SetupError(
          `${machine.name} has no hub: \`crash ${machine.name}\`, then \`start ${machine.name}\`.`,
        );
    for (const machine of this.machines) {
      const server = `hubs/${machine.name}`;
      await this.tellHaproxy(`set server ${server} state drain`);
      await this.restartHub(machine);
      await this.tellHaproxy(`set server ${server} state ready`);
      await until(
        async () =>
          (await this.tellHaproxy('show servers state hubs'))
            .split('\n')
            .some((line) => line.includes(` ${machine.name} `) && / 2 0 /.test(line)),
        `HAProxy uses ${machine.name}`,
      );
    }
  }

  /** @param {Machine} machine */
  cut(machine) {
    cut(machine);
  }

  /** @param {Machine} machine */
  join(machine) {
    join(machine);
  }

  /** @returns {Promise<Machine | undefined>} */
  async primary() {
    const found = await Promise.all(
      this.machines.map(
        async (each) => (await statusOf(`http://${each.address}:8008/primary`)) === 200,
      ),
    );
    return this.machines[found.indexOf(true)];
  }

  /** Whether a synchronous standby has all acknowledged commits. */
  async isReplicated() {
    const found = await Promise.all(
      this.machines.map(({ address }) => statusOf(`http://${address}:8008/synchronous`)),
    );
    return found.includes(200);
  }

  /** Whether all machines follow one primary, and a synchronous standby has all acknowledged commits. */
  async isWhole() {
    const found = await Promise.all(
      this.machines.map(({ address }) => statusOf(`http://${address}:8008/readiness`)),
    );
    return found.every((status) => status === 200) && (await this.isReplicated());
  }

  /**
   * Changes settings of all Patronis, as `patronictl edit-config` does.
   * @param {Record<string, unknown>} settings such as `ttl`
   */
  async configurePatroni(settings) {
    // Patroni refuses a change (409) if its knowledge of the current settings is outdated.
    await until(async () => {
      const primary = await this.primary();
      const answer = await fetch(`http://${primary?.address}:8008/config`, {
        method: 'PATCH',
        body: JSON.stringify(settings),
      }).catch(() => undefined);
      return answer?.ok === true;
    }, 'Patroni accepts other settings');
  }

  async status() {
    const primary = await this.primary();
    const rows = [];
    for (const machine of this.machines) {
      const { name, address } = machine;
      const isSynchronous = (await statusOf(`http://${address}:8008/synchronous`)) === 200;
      const isStandby = (await statusOf(`http://${address}:8008/replica`)) === 200;
      const role =
        machine === primary
          ? 'primary'
          : isSynchronous
            ? 'synchronous standby'
            : isStandby
              ? 'standby'
              : 'not running';
      const hub =
        (await statusOf(`http://${address}:${HUB_PORT}/ping`)) === 200
          ? 'answers'
          : 'does not answer';
      rows.push(`${name}  ${address}  PostgreSQL: ${role}; hub: ${hub}`);
    }
    return rows.join('\n');
  }

  /** @param {string} command @returns {Promise<string>} */
  tellHaproxy(command) {
    return new Promise((resolved, reject) => {
      const socket = connect(pathOf(this.front.folder, 'haproxy.sock'));
      let answer = '';
      socket.setEncoding('utf8').on('data', (part) => (answer += part));
      socket.on('error', reject).on('end', () => resolved(answer));
      socket.end(`${command}\n`);
    });
  }

  /** Starts etcd, Patroni with PostgreSQL, and the HAProxy and PgBouncer that lead to the primary. @param {Machine} machine */
  startDatabase(machine) {
    const { etcd, patroni, haproxy, pgbouncer } = this.programs();
    const how = { asPostgres: true };
    this.run(machine, 'etcd', [etcd, '--config-file', 'etcd.yml'], how);
    this.run(machine, 'patroni', [patroni, 'patroni.yml'], how);
    this.run(machine, 'haproxy', [haproxy, '-f', 'haproxy.cfg'], how);
    this.run(machine, 'pgbouncer', [pgbouncer, 'pgbouncer.ini'], how);
  }

  /**
   * Runs a program in the background, with its output in a file.
   * @param {Machine} place @param {string} name @param {string[]} command
   * @param {{ asPostgres?: boolean; env?: Record<string, string> }} how
   */
  run(place, name, command, { asPostgres = false, env = {} }) {
    const log = openSync(pathOf(place.folder, `${name}.log`), 'a');
    const as = asPostgres ? AS_POSTGRES : [];
    const [program = '', ...args] = [...there(place), ...as, ...command];
    const PATH = `${this.programs().postgres}:${process.env.PATH}`;
    const child = spawn(program, args, {
      cwd: place.folder,
      env: { ...process.env, ...env, PATH },
      detached: true,
      stdio: ['ignore', log, log],
    });
    child.unref();
    writeFileSync(pathOf(place.folder, `${name}.pid`), String(child.pid));
  }

  /** The process id of a program; 0 if it was never started. @param {Machine} machine @param {string} name */
  pid(machine, name) {
    const file = pathOf(machine.folder, `${name}.pid`);
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  }

  programs() {
    return (this.found ??= { ...ensureClusterPrograms(), postgres: ensurePostgres() });
  }

  /** Generates the secrets at the first call and keeps them in a file. @returns {Record<string, string>} */
  secrets() {
    const file = pathOf(this.folder, 'secrets.json');
    if (!existsSync(file)) {
      mkdirSync(this.folder, { recursive: true });
      const names = [
        'SUPERUSER_PASSWORD',
        'REPLICATION_PASSWORD',
        'REWIND_PASSWORD',
        'BURROW_PASSWORD',
        'ROOT_SECRET',
      ];
      const made = Object.fromEntries(names.map((name) => [name, randomBytes(18).toString('hex')]));
      writeFileSync(file, JSON.stringify(made), { mode: 0o600 });
    }
    return JSON.parse(readFileSync(file, 'utf8'));
  }

  /** Creates the folders of a machine and writes its configuration. @param {Machine} place */
  configure(place) {
    for (const folder of [place.folder, ...Object.values(this.shared())]) this.makeFolder(folder);
    for (const [name, text] of this.filesOf(place, this.secrets())) {
      const file = pathOf(place.folder, name);
      writeFileSync(file, text, { mode: name.endsWith('.sh') ? 0o700 : 0o600 });
      this.give(file);
    }
  }

  /** Folders that all machines can reach: on real machines, a bucket or a shared folder. */
  shared() {
    return { ARCHIVE: pathOf(this.folder, 'archive'), FILES: pathOf(this.folder, 'files') };
  }

  /**
   * Fills in the templates beside this file.
   * @param {Machine} place @param {Record<string, string>} secrets @returns {[name: string, text: string][]}
   */
  filesOf(place, secrets) {
    const each = (/** @type {(machine: Machine) => string} */ line) => this.machines.map(line);
    const postgres = (/** @type {Machine} */ { name, address }) =>
      `  server ${name} ${address}:5432 check port 8008`;
    const hub = (/** @type {Machine} */ { name, address }) =>
      `  server ${name} ${address}:${HUB_PORT}`;
    /** @type {Record<string, string>} */
    const values = {
      ...secrets,
      ...this.shared(),
      NAME: place.name,
      ADDRESS: place.address,
      FOLDER: place.folder,
      NETWORK: `${NETWORK}.0/24`,
      POSTGRES_BIN: ensurePostgres(),
      ETCD_CLIENTS: each(({ address }) => `${address}:2379`).join(','),
      ETCD_PEERS: each(({ name, address }) => `${name}=http://${address}:2380`).join(','),
      PRIMARY_SERVERS: each(postgres).join('\n'),
      HUB_SERVERS: each(hub).join('\n'),
      FRONT_ADDRESS: this.front.address,
      PUBLIC_URL: this.url,
    };
    const templates = pathOf(import.meta.dirname, place === this.front ? 'front' : 'machine');
    return readdirSync(templates).map((name) => {
      const text = readFileSync(pathOf(templates, name), 'utf8');
      return [name, text.replaceAll(/@([A-Z_]+)@/gu, (place, name) => values[name] ?? place)];
    });
  }

  /** @param {string} folder */
  makeFolder(folder) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o700);
    this.give(folder);
    chmodSync(this.folder, 0o711);
  }

  /** PostgreSQL refuses to run as root, and the user that runs it must be able to reach its data. */
  requireReachable() {
    const { folder } = this.front;
    const test = [...AS_POSTGRES, 'test', '-w', folder];
    if (spawnSync(test[0] ?? '', test.slice(1)).status !== 0)
      throw new SetupError(
        `The user postgres cannot reach ${folder}: choose another folder with --folder, such as /var/tmp/burrow-cluster.`,
      );
  }

  /** Makes the user that runs PostgreSQL the owner. @param {string} path */
  give(path) {
    const [uid, gid] = ['-u', '-g'].map((flag) =>
      Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout),
    );
    chownSync(path, uid ?? 0, gid ?? 0);
  }
}

/** @param {Place} place @param {NodeJS.Signals} signal */
function endAll(place, signal) {
  for (const pid of pidsOf(place)) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has already ended.
    }
  }
}

/** @param {Place} place @param {number} ms */
function waitForEnd(place, ms) {
  for (const end = Date.now() + ms; pidsOf(place).length > 0 && Date.now() < end;)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
}

/** The reason why the cluster cannot run on this machine, or undefined if it can. */
export function obstacle() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'The cluster needs Linux and root, because it makes network namespaces: use sudo, or read docs/deployment.md for real machines.';
  try {
    ensureClusterPrograms();
  } catch (reason) {
    if (reason instanceof SetupError) return reason.message;
    throw reason;
  }
  if (!canMakeNetwork())
    return 'This system makes no network namespaces: read docs/deployment.md for real machines.';
  return undefined;
}

async function main() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      folder: { type: 'string', default: 'burrow-cluster' },
      erase: { type: 'boolean', default: false },
    },
  });
  const [command = 'status', name = ''] = positionals;
  const cluster = new Cluster(values.folder);
  switch (command) {
    case 'up':
      say('Starting three machines and a front; this takes half a minute.');
      await cluster.up();
      console.log(await cluster.status());
      console.log(
        `Devices and drivers connect to ${cluster.url}; the root secret is in ${pathOf(cluster.folder, 'secrets.json')}.`,
      );
      break;
    case 'down':
      cluster.requireOwn();
      cluster.down({ erase: values.erase });
      break;
    case 'status':
      console.log(await cluster.status());
      break;
    case 'crash':
      cluster.crash(cluster.machine(name));
      break;
    case 'start':
      await cluster.start(cluster.machine(name));
      break;
    case 'cut':
      cluster.cut(cluster.machine(name));
      break;
    case 'join':
      cluster.join(cluster.machine(name));
      break;
    case 'upgrade':
      await cluster.upgrade();
      break;
    default:
      throw new SetupError(
        `There is no command ${command}: up, status, crash, start, cut, join, upgrade and down are there.`,
      );
  }
}

if (import.meta.filename === process.argv[1])
  await runMain(async () => {
    ensureNode();
    await main();
  });
