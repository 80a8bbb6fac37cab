// `npm run bench:cluster [-- --seconds 8 --rounds 3 --folder <folder>]`: commits and reads per second through 1, 2 and 3 hubs of
// ops/cluster, in 1, 10 and 100 databases, interleaved; then commits through hubs that are separate tenants with their own data. All
// hubs share the processors of this machine, so CPU time per request shows what more machines would give. The number of clients that
// commit is the same for any number of hubs; the number of clients that read grows with the hubs, as when hubs are added for a crowd.
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'node:http';
import { Cluster } from '../ops/cluster/cluster.mjs';
import { commandOptions, ensureNode, runMain, say } from '../scripts/setup.mjs';
import { medianOf } from './host/results.mjs';

const CLIENTS = 32;
const HUB_COUNTS = [1, 2, 3];
const DATABASE_COUNTS = [1, 10, 100];
const READ_SHARE = 0.9;
const CLOCK_TICKS_PER_S = 100;

const values = commandOptions({
  seconds: { type: 'string', default: '8' },
  rounds: { type: 'string', default: '3' },
  folder: { type: 'string', default: join(tmpdir(), 'burrow-cluster-bench') },
});

const agent = new Agent({ keepAlive: true });
const object = (/** @type {object} */ members) => ({ object: members });

/** @param {string} url @param {string} secret @param {unknown} query @returns {Promise<any>} */
const ask = (url, secret, query) =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' };
    const asked = request(url, { method: 'POST', agent, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => (text += part));
      answer.on('end', () => {
        const { resource, errors } = JSON.parse(text);
        if (errors) reject(new Error(JSON.stringify(errors)));
        else resolve(resource);
      });
    });
    asked.on('error', reject).end(JSON.stringify(query));
  });

const create = {
  create: { collection: 'things' },
  params: object({ data: object({ text: 'the heron stands in the reeds' }) }),
};
const read = { get: { ref: { collection: 'things' }, id: '1' } };

/** @param {number} pid @returns CPU time of the process in ms */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_S) * 1000;
}

/**
 * @param {Cluster} cluster @param {number} hubs @param {number} clients
 * @param {(hub: number, n: number) => string} secretOf @param {(n: number) => unknown} queryOf
 */
async function measure(cluster, hubs, clients, secretOf, queryOf) {
  const pids = cluster.machines.slice(0, hubs).map((each) => cluster.pid(each, 'hub'));
  const cpuBefore = pids.map(cpuOf);
  const ms = Number(values.seconds) * 1000;
  const startedMs = performance.now();
  /** @type {number[]} */
  const took = [];
  await Promise.all(
    Array.from({ length: clients }, async (_, i) => {
      for (let n = i; performance.now() - startedMs < ms; n += clients) {
        const sentMs = performance.now();
        await ask(urlOf(cluster, i % hubs), secretOf(i % hubs, n), queryOf(n));
        took.push(performance.now() - sentMs);
      }
    }),
  );
  const elapsedS = (performance.now() - startedMs) / 1000;
  const cpuMs = pids.reduce((sum, pid, i) => sum + cpuOf(pid) - (cpuBefore[i] ?? 0), 0);
  took.sort((a, b) => a - b);
  return {
    rate: took.length / elapsedS,
    p95: took[Math.floor(took.length * 0.95)] ?? NaN,
    cpu: cpuMs / took.length,
  };
}

/** @param {Cluster} cluster @param {number} hub */
const urlOf = (cluster, hub) => `http://${cluster.machines[hub]?.address}:8443`;

/** @param {Cluster} cluster @param {number} hub @param {string} name @returns {Promise<string>} the secret of an admin key */
async function makeDatabase(cluster, hub, name) {
  const [url, root] = [urlOf(cluster, hub), cluster.rootSecret];
  await ask(url, root, { create_database: object({ name }) });
  const { secret } = await ask(url, root, {
    create_key: object({ role: 'admin', database: { database: name } }),
  });
  await ask(url, secret, { create_collection: object({ name: 'things' }) });
  await ask(url, secret, {
    create: { ref: { collection: 'things' }, id: '1' },
    params: object({}),
  });
  return secret;
}

await runMain(async () => {
  ensureNode();
  const cluster = new Cluster(values.folder, { BURROW_RATE_ADDRESS: '0' });
  say('Starting the cluster.');
  try {
    await cluster.up();
    /** @type {string[]} */
    const secrets = [];
    for (let n = 0; n < Math.max(...DATABASE_COUNTS); n++)
      secrets.push(await makeDatabase(cluster, 0, `d${n}`));
    /** @type {Map<string, { rate: number; p95: number; cpu: number }[]>} */
    const found = new Map();
    /** @param {string} name @param {{ rate: number; p95: number; cpu: number }} one */
    const note = (name, one) => {
      found.set(name, [...(found.get(name) ?? []), one]);
      say(
        `${name}: ${one.rate.toFixed(0)} a second, p95 ${one.p95.toFixed(0)} ms, ${one.cpu.toFixed(2)} ms of CPU each`,
      );
    };
    for (let round = 0; round < Number(values.rounds); round++)
      for (const [what, clientsOf, queryOf] of /** @type {const} */ ([
        ['commits', () => CLIENTS, () => create],
        [
          '90 % reads',
          (/** @type {number} */ hubs) => CLIENTS * hubs,
          (/** @type {number} */ n) => ((n * 7919) % 100 < READ_SHARE * 100 ? read : create),
        ],
      ]))
        for (const databases of DATABASE_COUNTS)
          for (const hubs of HUB_COUNTS) {
            /** @type {(hub: number, n: number) => string} */
            const secretOf = (_, n) => secrets[n % databases] ?? '';
            const one = await measure(cluster, hubs, clientsOf(hubs), secretOf, queryOf);
            note(`${what} | ${databases} | ${hubs}`, one);
          }
    say('Restarting the hubs, each as a tenant.');
    /** @type {string[]} */
    const tenants = [];
    for (const [hub, machine] of cluster.machines.entries()) {
      await cluster.restartHub(machine, { BURROW_TENANT: machine.name });
      tenants.push(await makeDatabase(cluster, hub, 'd0'));
    }
    for (let round = 0; round < Number(values.rounds); round++)
      for (const hubs of HUB_COUNTS) {
        const secretOf = (/** @type {number} */ hub) => tenants[hub] ?? '';
        const one = await measure(cluster, hubs, CLIENTS, secretOf, () => create);
        note(`commits | of a tenant for each hub | ${hubs}`, one);
      }
    console.log(
      '| what | databases | hubs | a second | p95, ms | CPU of hubs each, ms |\n|---|---|---|---|---|---|',
    );
    for (const [name, rounds] of found) {
      const median = (/** @type {'rate' | 'p95' | 'cpu'} */ of) =>
        medianOf(rounds.map((each) => each[of]));
      console.log(
        `| ${name} | ${median('rate').toFixed(0)} | ${median('p95').toFixed(0)} | ${median('cpu').toFixed(2)} |`,
      );
    }
  } finally {
    agent.destroy();
    cluster.down({ erase: true });
  }
});
