/** The hub beside its floor, in turns, over PostgreSQL and over PGlite: `npm run bench:hub`. */
import { spawn, type ChildProcess } from 'node:child_process';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { startPostgres } from '../../hub/testing/postgres-server.ts';

const [folder = '', secondsText = '2'] = process.argv.slice(2);
const ROUND_MS = Number(secondsText) * 1000;
const ROUNDS = 3;
const SECRET = 'burrow-root-of-a-bench-hub-which-is-known';
const DOCUMENTS = 2000;

interface Served {
  readonly child: ChildProcess;
  readonly port: number;
}

const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

function start(args: readonly string[], pattern: RegExp): Promise<Served> {
  const env = { PATH: process.env['PATH'], BURROW_ROOT_SECRET: SECRET };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  let said = '';
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${args.join(' ')} ended: ${said}`)));
    child.stdout.on('data', (part) => {
      said += String(part);
      const port = pattern.exec(said)?.[1];
      if (port !== undefined) resolve({ child, port: Number(port) });
    });
  });
}

type Send = (agent: Agent, i: number) => Promise<void>;

function post(agent: Agent, port: number, path: string, body: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${SECRET}`,
    'x-faunadb-api-version': '4',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, path, method: 'POST', headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => (text += part));
      answer.on('end', () => {
        if ((answer.statusCode ?? 0) < 300) resolve();
        else reject(new Error(`${answer.statusCode} ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const VALUE = 'x'.repeat(100);
let next = 1_000_000;
const fresh = (): number => (next += 1);
const someone = (): string => String(1 + Math.floor(Math.random() * DOCUMENTS));

const floorWork = (port: number): Record<string, Send> => {
  const send =
    (path: string, id: () => string): Send =>
    (agent) =>
      post(agent, port, path, JSON.stringify({ id: id(), value: VALUE }));
  return {
    create: send('/create', () => String(fresh())),
    get: send('/get', someone),
    page: send('/page', someone),
  };
};

const create = (id: number): string =>
  `{"create":{"ref":{"collection":"notes"},"id":"${id}"},"params":{"object":{"data":{"object":{"a":${id},"b":"${id}","text":"${VALUE}"}}}}}`;
const PAGE = `{"map":{"lambda":["a","ref"],"expr":{"get":{"var":"ref"}}},"collection":{"paginate":{"match":{"index":"by_a"}},"size":64,"after":[N]}}`;

const hubWork = (port: number): Record<string, Send> => ({
  create: (agent) => post(agent, port, '/', create(fresh())),
  get: (agent) =>
    post(agent, port, '/', `{"get":{"ref":{"collection":"notes"},"id":"${someone()}"}}`),
  page: (agent) => post(agent, port, '/', PAGE.replace('N', someone())),
});

interface Figures {
  readonly perSecond: number;
  readonly p50: number;
}

async function measure(send: Send, connections: number): Promise<Figures> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const end = performance.now() + ROUND_MS;
  await Promise.all(
    Array.from({ length: connections }, async (_, i) => {
      while (performance.now() < end) {
        const begun = performance.now();
        await send(agent, i);
        times.push(performance.now() - begun);
      }
    }),
  );
  agent.destroy();
  times.sort((a, b) => a - b);
  return {
    perSecond: times.length / (ROUND_MS / 1000),
    p50: times[Math.floor(times.length / 2)] ?? 0,
  };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

async function compare(name: string, floor: Send, hub: Send, connections: number): Promise<void> {
  const found: { floor: Figures; hub: Figures }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const first = await measure(floor, connections);
    found.push({ floor: first, hub: await measure(hub, connections) });
  }
  const rate = median(found.map((each) => each.hub.perSecond / each.floor.perSecond));
  const p50 = median(found.map((each) => each.hub.p50 / each.floor.p50));
  const at = (side: 'floor' | 'hub'): string =>
    `${median(found.map((each) => each[side].perSecond)).toFixed(0)}/s p50 ${median(found.map((each) => each[side].p50)).toFixed(2)} ms`;
  console.log(
    `| ${name} | ${connections} | ${at('floor')} | ${at('hub')} | ${rate.toFixed(2)} | ${p50.toFixed(2)} |`,
  );
}

async function fill(
  floor: Record<string, Send>,
  floorPort: number,
  hubPort: number,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const index = (field: string): string =>
    `{"create_index":{"object":{"name":"by_${field}","source":{"collection":"notes"},"values":[{"object":{"field":["data","${field}"]}},{"object":{"field":["ref"]}}]}}}`;
  await post(agent, hubPort, '/', '{"create_collection":{"object":{"name":"notes"}}}');
  await post(agent, hubPort, '/', index('a'));
  await post(agent, hubPort, '/', index('b'));
  for (let at = 1; at <= DOCUMENTS; at += 16) {
    await Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        await post(agent, hubPort, '/', create(at + i));
        await post(
          agent,
          floorPort,
          '/create',
          JSON.stringify({ id: String(at + i), value: VALUE }),
        );
      }),
    );
  }
  agent.destroy();
}

async function run(name: string, floorUrl: string, hubArgs: readonly string[]): Promise<void> {
  const floor = await start([join(folder, 'floor.mjs'), floorUrl], /listening (\d+)/);
  const unlimited = [
    '--rate',
    '0',
    '--rate-address',
    '0',
    '--sockets-per-address',
    '1000',
    '--concurrency',
    '1000',
  ];
  const hub = await start(
    [
      join(folder, 'main.mjs'),
      'hub',
      '--port',
      '0',
      '--log-level',
      'silent',
      ...unlimited,
      ...hubArgs,
    ],
    /listening on http:\/\/127\.0\.0\.1:(\d+)/,
  );
  const [below, ours] = [floorWork(floor.port), hubWork(hub.port)];
  await fill(below, floor.port, hub.port);
  const works = [
    ['create', 16],
    ['create', 64],
    ['get', 16],
    ['page', 16],
  ] as const;
  for (const [work, connections] of works) {
    const [first, second] = [below[work], ours[work]];
    if (first && second) await compare(`${name}: ${work}`, first, second, connections);
  }
  for (const { child } of [floor, hub]) {
    child.removeAllListeners('exit');
    child.kill('SIGKILL');
  }
}

console.log('| work | connections | floor | hub | rate, hub to floor | p50, hub to floor |');
console.log('|---|---|---|---|---|---|');
const server = await startPostgres();
try {
  await run('PostgreSQL', server.url, ['--postgres', server.url]);
} finally {
  await server.stop();
}
await run('PGlite', 'memory:', ['--data', 'memory:']);
