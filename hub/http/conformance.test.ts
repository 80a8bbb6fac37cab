/** The examples of the specification over the network: each with a hub of its own, and for databases a tenant of its own. */
import { readFileSync } from 'node:fs';
import { Agent, request as send } from 'node:http';
import { describe, test } from 'vitest';
import {
  readExamples,
  runExample,
  type ConformanceHost,
  type HostAnswer,
} from '../../src/http/conformance.contract.ts';
import type { HubStorage } from '../instance/open-hub.ts';
import type { SqlDatabase } from '../sql/sql-client.ts';
import { OtherCommits } from '../store/other-commits.ts';
import { newWriter, openTables } from '../store/sql-tables.ts';
import { freshTenant, sharedDatabases } from '../testing/hub-stores.ts';
import { memoryStorage, openTestHub } from '../testing/test-hub.ts';

function requestOver(port: number, agent: Agent): ConformanceHost['request'] {
  return ({ method, path, headers, body }) =>
    new Promise<HostAnswer>((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const options = {
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: { ...headers, ...length },
        agent,
      };
      const sent = send(options, (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => (text += part));
        answer.on('error', reject);
        answer.on('end', () => {
          const found = answer.headers as Record<string, string>;
          resolve({ status: answer.statusCode ?? 0, headers: found, body: text });
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
}

/** Levels of pino from error on. */
const isFailure = (line: string): boolean => /^\{"level":[56]0/.test(line);

const { pglite, postgres } = sharedDatabases();

async function openOnPglite(): Promise<HubStorage> {
  return { ...memoryStorage(), store: await openTables(await pglite(), freshTenant()) };
}

/** As of a hub, but for connections of its own and a notice by the server: to open those costs more than an example. */
async function openOnPostgres(): Promise<HubStorage> {
  const [shared, tenant, writer] = [await postgres(), freshTenant(), newWriter()];
  const database: SqlDatabase = {
    isExclusive: false,
    roundTrips: 0,
    connect: () => shared.connect(),
    listen: () => undefined,
    close: () => Promise.resolve(),
  };
  const others = new OtherCommits({ database, tenant, writer });
  const store = await openTables(database, tenant, { writer, watched: others });
  others.follow(store);
  return {
    store,
    lease: undefined,
    onOtherCommit: (listener) => others.listen(listener),
    async close() {
      others.close();
      await store.close();
    },
  };
}

const STORAGES: Readonly<Record<string, () => Promise<HubStorage>>> = {
  // In memory without a network they run in src/http; with one only when asked for: it is the same engine once more.
  ...(process.env['BURROW_ALL_EXAMPLES'] && { memory: () => Promise.resolve(memoryStorage()) }),
  PGlite: openOnPglite,
  PostgreSQL: openOnPostgres,
};

for (const [name, openStorage] of Object.entries(STORAGES)) {
  for (const file of ['examples', 'sets-examples', 'auth-examples']) {
    const text = readFileSync(new URL(`../../spec/${file}.jsonl`, import.meta.url), 'utf8');
    describe(`HTTP over ${name}: ${file}`, () => {
      for (const example of readExamples(text)) {
        test(`${example.id} ${example.area}`, async () => {
          // Any page may ask, as at the original. The decision that a token reads its own document has its own tests.
          const settings = { corsOrigins: ['*'], ownDocument: 'by-role' } as const;
          const hub = await openTestHub({ storage: await openStorage(), settings });
          const agent = new Agent({ keepAlive: true });
          try {
            await runExample(example, { admin: hub.secret, request: requestOver(hub.port, agent) });
          } catch (reason) {
            const failed = hub.logged().split('\n').filter(isFailure);
            // What the hub says of a failure of its own is in its log only.
            if (failed.length === 0) throw reason;
            throw new Error(`The hub failed:\n${failed.join('\n')}`, { cause: reason });
          } finally {
            agent.destroy();
            await hub.close();
          }
        });
      }
    });
  }
}
