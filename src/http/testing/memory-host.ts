/** The HTTP API over an engine in memory, for the conformance suite and the tests of this room. */
import { randomBytes } from 'node:crypto';
import { compare, hash, hashSync } from 'bcryptjs';
import { sha256 } from '../../engine/testing/sha256.ts';
import { createEngine } from '../../engine/engine.ts';
import type { EngineOptions } from '../../engine/host.ts';
import { LogExports, type ExportsOptions } from '../../logs/exports.ts';
import { LOG_DEFAULTS, QueryLog } from '../../logs/query-log.ts';
import { createMemoryStore } from '../../store/memory.ts';
import type { Micros } from '../../values/value.ts';
import type { ConformanceHost, HostAnswer } from '../conformance.contract.ts';
import { handleRequest } from '../handle.ts';
import type { HttpHost, HttpRequest } from '../message.ts';

/** The lowest cost, because tests compute many hashes. */
const HASH_COST = 4;
const NOBODY = hashSync('nobody', HASH_COST);

export interface MemoryHost extends ConformanceHost {
  readonly http: HttpHost & { readonly log: QueryLog; readonly exports: LogExports };
  readonly reports: readonly unknown[];
  handle(request: Partial<HttpRequest> & { readonly path: string }): Promise<HostAnswer>;
}

export function openMemoryHost(
  options: Partial<ExportsOptions> &
    Pick<Partial<EngineOptions>, 'clock' | 'ownDocument' | 'accessTokens'> = {},
): Promise<MemoryHost> {
  const store = createMemoryStore();
  const shared = {
    store,
    clock: wallClock,
    random: (bytes: number) => new Uint8Array(randomBytes(bytes)),
    pause: () => new Promise<void>((resolve) => setImmediate(resolve)),
    regionGroup: 'local',
    ...options,
  };
  const admin = `fnA${randomBytes(28).toString('base64url').slice(0, 37)}`;
  const engine = createEngine({
    ...shared,
    sha256,
    passwords: {
      hash: (password, cost) => hash(password, cost),
      verify: async (password, known) =>
        (await compare(password, known ?? NOBODY)) && known !== undefined,
    },
    hashCost: HASH_COST,
    durability: 'relaxed',
    rootSecret: admin,
  });
  const log = new QueryLog({ ...LOG_DEFAULTS, ...shared });
  const reports: unknown[] = [];
  const report = (reason: unknown): void => void reports.push(reason);
  const exports = new LogExports({ ...shared, log, report });
  const http = { ...shared, engine, log, exports, report, build: 'burrow test' };
  const handle: MemoryHost['handle'] = async ({ method = 'GET', headers = {}, body, ...more }) => {
    const answer = await handleRequest({ method, headers, body, ...more }, http);
    return { ...answer, body: await textOf(answer.body) };
  };
  return Promise.resolve({ admin, http, reports, request: handle, handle });
}

let last: Micros = 0;

/** µs; never returns the same time twice. */
function wallClock(): Micros {
  const now = Math.floor((performance.timeOrigin + performance.now()) * 1000);
  last = Math.max(now, last + 1);
  return last;
}

async function textOf(body: string | AsyncIterable<string | Uint8Array>): Promise<string> {
  if (typeof body === 'string') return body;
  let text = '';
  for await (const part of body)
    text += typeof part === 'string' ? part : Buffer.from(part).toString('latin1');
  return text;
}
