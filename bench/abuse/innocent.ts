/**
 * The innocent client: a query and a `/ping` every 50 ms. It runs in a thread of its own, so that the attackers' work does not slow it
 * down.
 */
import { Agent } from 'node:http';
import { constants, setPriority, userInfo } from 'node:os';
import { platform } from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import { send } from '../hub/send.ts';

export interface InnocentData {
  readonly port: number;
  readonly secret: string;
}

/** What the client observed since the last report. Times in ms. */
export interface Experience {
  readonly count: number;
  readonly queryP95: number;
  readonly queryMax: number;
  readonly pingP95: number;
  readonly pingMax: number;
  /** Failed requests by status; 0 if there was no response. */
  readonly failed: Readonly<Record<string, number>>;
}

const { port, secret } = workerData as InnocentData;
// A real client has its own machine: this one must wait for the hub, not for a core.
if (platform === 'linux' && userInfo().uid === 0)
  setPriority(0, constants.priority.PRIORITY_HIGHEST);
/** Interval of requests. The client does not wait for responses, so a hub that is blocked for a second delays twenty of them. */
const EVERY_MS = 50;
/** With more requests in flight, the hub would refuse them because of their number. */
const OUTSTANDING_MAX = 50;
const GET = '{"get":{"ref":{"collection":"notes"},"id":"1"}}';
const agent = new Agent({ keepAlive: true });

let queries: number[] = [];
let pings: number[] = [];
let failed: Record<string, number> = {};
const outstanding = new Set<Promise<void>>();

async function timed(into: number[], asked: Promise<{ readonly status: number }>): Promise<void> {
  const begun = performance.now();
  const status = await asked.then(
    (answer) => answer.status,
    () => 0,
  );
  if (status === 200) into.push(performance.now() - begun);
  else failed[status] = (failed[status] ?? 0) + 1;
}

const rank = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ??
  Number.NaN;

parentPort?.on('message', () => {
  void Promise.all(outstanding).then(() => {
    const seen: Experience = {
      count: queries.length + pings.length,
      queryP95: rank(queries, 0.95),
      queryMax: rank(queries, 1),
      pingP95: rank(pings, 0.95),
      pingMax: rank(pings, 1),
      failed,
    };
    [queries, pings, failed] = [[], [], {}];
    parentPort?.postMessage(seen);
  });
});

function note(into: number[], asked: Promise<{ readonly status: number }>): void {
  const done = timed(into, asked).finally(() => outstanding.delete(done));
  outstanding.add(done);
}

setInterval(() => {
  if (outstanding.size >= OUTSTANDING_MAX) return;
  note(queries, send(port, { secret, body: GET, agent }));
  note(pings, send(port, { secret, body: '', agent, path: '/ping', method: 'GET' }));
}, EVERY_MS);
