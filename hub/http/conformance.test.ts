/** The examples of the specification over the network, each in a database of its own, on a hub for each kind of storage. */
import { readFileSync } from 'node:fs';
import { Agent, request as send } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
import { memoryStorage, startTestHub, type TestHub } from '../testing/test-hub.ts';

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

/** Log lines of pino's levels `error` and above. */
const isFailure = (line: string): boolean => /^\{"level":[56]0/.test(line);

const { pglite, postgres } = sharedDatabases();

async function openOnPglite(): Promise<HubStorage> {
  return { ...memoryStorage(), store: await openTables(await pglite(), freshTenant()) };
}

/** Like a hub, but without its own connections and notifications of the server: opening those takes longer than an example. */
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
  // Over the memory store the examples run without a network in src/http. With a network they only run on request, because the
  // engine is the same.
  ...(process.env['BURROW_ALL_EXAMPLES'] && { memory: () => Promise.resolve(memoryStorage()) }),
  PGlite: openOnPglite,
  PostgreSQL: openOnPostgres,
};

let made = 0;

/** The name of the database occurs in no example. @returns the secret of an admin key */
async function newDatabase(root: ConformanceHost): Promise<string> {
  const headers = { authorization: `Bearer ${root.admin}`, 'x-faunadb-api-version': '4' };
  const ask = (query: unknown) =>
    root.request({ method: 'POST', path: '/', headers, body: JSON.stringify(query) });
  const name = `of_example_${++made}`;
  await ask({ create_database: { object: { name } } });
  const key = { object: { database: { database: name }, role: 'admin' } };
  const { status, body } = await ask({ create_key: key });
  expect([status, body]).toEqual([201, expect.any(String)]);
  return (JSON.parse(body) as { readonly resource: { readonly secret: string } }).resource.secret;
}

describe.each(Object.entries(STORAGES))('HTTP over %s', (_name, openStorage) => {
  let hub: TestHub;
  beforeAll(async () => {
    // As at Fauna, pages of any origin may send requests. That a token may read its own document has tests of its own.
    const settings = { corsOrigins: ['*'], ownDocument: 'by-role' } as const;
    hub = await startTestHub({ storage: await openStorage(), settings });
  });
  afterAll(() => hub.close());
  for (const file of ['examples', 'sets-examples', 'auth-examples']) {
    const text = readFileSync(new URL(`../../spec/${file}.jsonl`, import.meta.url), 'utf8');
    for (const example of readExamples(text)) {
      test(`${file}: ${example.id} ${example.area}`, async () => {
        const before = hub.logged().length;
        const agent = new Agent({ keepAlive: true });
        try {
          const request = requestOver(hub.port, agent);
          const admin = await newDatabase({ admin: hub.secret, request });
          await runExample(example, { admin, request });
        } catch (reason) {
          const failed = hub.logged().slice(before).split('\n').filter(isFailure);
          // The reason of an internal error is only in the log of the hub.
          if (failed.length === 0) throw reason;
          throw new Error(`The hub failed:\n${failed.join('\n')}`, { cause: reason });
        } finally {
          agent.destroy();
        }
      });
    }
  }
});
