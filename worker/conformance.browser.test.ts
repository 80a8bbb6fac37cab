/** The examples of the specification over IndexedDB, each in a database of its own, in this browser. */
import { sha256 } from '@noble/hashes/sha2.js';
import { compare, hash, hashSync } from 'bcryptjs';
import { afterAll, describe, test } from 'vitest';
import auth from '../spec/auth-examples.jsonl?raw';
import examples from '../spec/examples.jsonl?raw';
import sets from '../spec/sets-examples.jsonl?raw';
import { createEngine } from '../src/engine/engine.ts';
import {
  readExamples,
  runExample,
  type Example,
  type ConformanceHost,
} from '../src/http/conformance.contract.ts';
import { handleRequest } from '../src/http/handle.ts';
import { LogExports } from '../src/logs/exports.ts';
import { LOG_DEFAULTS, QueryLog } from '../src/logs/query-log.ts';
import { createMemoryStore } from '../src/store/memory.ts';
import type { Store } from '../src/store/port.ts';
import { createClock } from '../hosts/clock.ts';
import type { StoreKind } from './store/layouts.ts';
import { pause } from './browser/pause.ts';
import { OPEN, STORE_KINDS } from './testing/store-kinds.ts';
import { freshName } from './testing/store-kit.ts';

/** The lowest cost: the examples hash many passwords. */
const HASH_COST = 4;
const NOBODY = hashSync('nobody', HASH_COST);
const ADMIN = `fnA${'conformance'.repeat(4).slice(0, 37)}`;

function hostOver(store: Store): ConformanceHost {
  const shared = {
    store,
    clock: createClock(),
    random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)),
    pause,
    regionGroup: 'local',
  };
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
    rootSecret: ADMIN,
    // As in the specification; the decision for programs has its own tests.
    ownDocument: 'by role',
  });
  const log = new QueryLog({ ...LOG_DEFAULTS, ...shared });
  const exports = new LogExports({ ...shared, log, report: console.error });
  const http = { ...shared, engine, log, exports, report: console.error, build: 'burrow test' };
  return {
    admin: ADMIN,
    async request(request) {
      const answer = await handleRequest(request, http);
      return { ...answer, body: await textOf(answer.body) };
    },
  };
}

async function textOf(body: string | AsyncIterable<string | Uint8Array>): Promise<string> {
  if (typeof body === 'string') return body;
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of body) text += typeof part === 'string' ? part : decoder.decode(part);
  return text;
}

async function runOver(kind: StoreKind, example: Example): Promise<void> {
  const store = await OPEN[kind](freshName());
  try {
    await runExample(example, hostOver(store));
  } finally {
    await store.destroy();
  }
}

const passes = (run: Promise<void>): Promise<boolean> =>
  run.then(
    () => true,
    () => false,
  );

/** `notYet`: the example fails in memory as well. */
const figures = { pass: 0, fail: 0, notYet: 0 };

const files = Object.entries({ examples, sets, auth });
for (const [kind, [file, text]] of STORE_KINDS.flatMap((each) =>
  files.map((of) => [each, of] as const),
)) {
  describe(`IndexedDB, layout \`${kind}\`: ${file}`, () => {
    for (const example of readExamples(text)) {
      test(`${example.id} ${example.area}`, async () => {
        try {
          await runOver(kind, example);
          figures.pass++;
        } catch (reason) {
          const isOurs = await passes(runExample(example, hostOver(createMemoryStore())));
          figures[isOurs ? 'fail' : 'notYet']++;
          throw reason;
        }
      });
    }
  });
}

afterAll(() => {
  console.log(`[figures] conformance over IndexedDB: ${JSON.stringify(figures)}`);
});
