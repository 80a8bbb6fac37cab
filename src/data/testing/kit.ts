/** Helpers that tests of exports and imports share. */
import type { DataDatabase } from '../ask.ts';
import { exportDatabase, type ExportOptions } from '../export.ts';

/** Lines of an export without the first, which has the time, and without the last, which has the digest. */
export async function linesOfExport(
  database: DataDatabase,
  options: Omit<ExportOptions, 'gzip'> = {},
): Promise<string[]> {
  const text = await new Response(exportDatabase(database, { ...options, gzip: false })).text();
  return text.trimEnd().split('\n').slice(1, -1);
}

export const packed = (database: DataDatabase, options: ExportOptions = {}): Promise<Blob> =>
  new Response(exportDatabase(database, options)).blob();

export const blobOf = (...lines: readonly string[]): Blob =>
  new Blob([lines.map((line) => `${line}\n`).join('')]);

const WRITES = /"(?:insert|create|replace|create_\w+)":/;

/** Counts the queries that write, and fails at the nth: before it has an effect, or after. */
export function dyingAt(
  database: DataDatabase,
  nth: number,
  when: 'before' | 'after',
): DataDatabase & { writes(): number } {
  let count = 0;
  return {
    writes: () => count,
    ...(database.rootSecret !== undefined && { rootSecret: database.rootSecret }),
    fetch: async (input, init) => {
      if (!WRITES.test(init.body)) return database.fetch(input, init);
      count += 1;
      if (count > nth || (count === nth && when === 'before')) throw new Error('killed');
      const response = await database.fetch(input, init);
      if (count === nth) throw new Error('killed');
      return response;
    },
  };
}

export interface Filled {
  readonly documents: number;
}

/** Each of these is a query, in wire JSON, which has a form for every type. */
const SCHEMA = [
  '{"create_collection":{"object":{"name":"users","data":{"object":{"of":"people"}}}}}',
  '{"create_collection":{"object":{"name":"notes","history_days":10}}}',
  '{"create_index":{"object":{"name":"users_by_email","source":{"collection":"users"},"unique":true,"terms":[{"object":{"field":["data","email"]}}]}}}',
  '{"create_index":{"object":{"name":"notes_by_size","source":{"object":{"collection":{"collection":"notes"},"fields":{"object":{"size":{"query":{"lambda":"x","expr":{"select":["data","n"],"from":{"var":"x"}}}}}}}},"values":[{"object":{"binding":"size","reverse":true}},{"object":{"field":["ref"]}}]}}}',
  '{"create_function":{"object":{"name":"twice","body":{"query":{"lambda":"x","expr":{"call":{"function":"later"},"arguments":{"var":"x"}}}}}}}',
  '{"create_role":{"object":{"name":"reader","membership":[{"object":{"resource":{"collection":"users"}}}],"privileges":[{"object":{"resource":{"function":"twice"},"actions":{"object":{"call":true}}}},{"object":{"resource":{"collection":"notes"},"actions":{"object":{"read":{"query":{"lambda":"x","expr":true}}}}}}]}}}',
  '{"update":{"function":"twice"},"params":{"object":{"role":{"role":"reader"}}}}',
  // Refers to itself and to a later collection.
  '{"update":{"collection":"users"},"params":{"object":{"permissions":{"object":{"read":{"collection":"users"},"create":{"collection":"notes"}}}}}}',
  '{"create_collection":{"object":{"name":"gone"}}}',
  '{"create_role":{"object":{"name":"former","membership":{"object":{"resource":{"collection":"gone"}}},"privileges":[{"object":{"resource":{"collection":"gone"},"actions":{"object":{"read":true}}}},{"object":{"resource":{"collection":"notes"},"actions":{"object":{"read":true}}}}]}}}',
  '{"create_function":{"object":{"name":"closed","permissions":{"object":{"call":{"collection":"gone"}}},"body":{"query":{"lambda":"x","expr":null}}}}}',
  '{"delete":{"collection":"gone"}}',
] as const;

const NOTES = '{"@ref":{"id":"notes","collection":{"@ref":{"id":"collections"}}}}';

/** A value of every type that can be stored. */
const EVERY_TYPE = `{"object":{
  "int":9007199254740993,"negative":-9223372036854775808,"double":1.0,"small":5e-324,"minusZero":-0.0,
  "text":"a \\"quoted\\" \\u0000 \\ud83d\\ude00 line\\nfeed","empty":"","yes":true,"no":false,
  "time":{"@ts":"2026-01-02T03:04:05.123456789Z"},"date":{"@date":"1969-12-31"},"bytes":{"@bytes":"AP8B"},
  "uuid":{"@uuid":"0e6a0a1c-5a5e-4a5f-9f0c-2f1f0f3b6a11"},
  "ref":{"@ref":{"id":"1","collection":{"@ref":{"id":"users","collection":{"@ref":{"id":"collections"}}}}}},
  "collection":${NOTES},"native":{"@ref":{"id":"collections"}},
  "set":{"match":{"index":"users_by_email"},"terms":"a@b"},"union":{"union":[{"documents":${NOTES}},{"documents":{"collection":"users"}}]},
  "lambda":{"query":{"lambda":["x","y"],"expr":{"add":[{"var":"x"},1]}}},
  "list":[1,[2.5,{"object":{"deep":[]}}],{"object":{}}],
  "tagged":{"object":{"@obj":{"@ref":1,"plain":{"object":{"@obj":{"@ts":"no time"}}}}}},"__proto__":{"object":{"constructor":1}}}}`;

export async function ask(database: DataDatabase, query: string): Promise<string> {
  const response = await database.fetch('http://burrow.local/', {
    method: 'POST',
    headers: {
      'x-faunadb-api-version': '4',
      authorization: `Bearer ${database.rootSecret ?? ''}`,
    },
    body: query,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${query.slice(0, 200)}: ${text}`);
  return text;
}

/** Fills a database with schema of every kind, values of every type, and this many small documents. */
export async function fill(database: DataDatabase, { documents }: Filled): Promise<void> {
  for (const query of SCHEMA) await ask(database, query);
  await ask(
    database,
    `{"create":{"ref":{"collection":"users"},"id":"1"},"params":{"object":{"data":{"object":{"email":"a@b"}},"permissions":{"object":{"read":"public"}},"credentials":{"object":{"password":"a secret that stays"}}}}}`,
  );
  await ask(
    database,
    `{"create":{"ref":{"collection":"notes"},"id":"9000000000000000001"},"params":{"object":{"data":${EVERY_TYPE},"ttl":{"@ts":"2999-01-01T00:00:00Z"}}}}`,
  );
  for (let first = 1; first <= documents; first += 500) {
    const ids = Array.from({ length: Math.min(500, documents - first + 1) }, (_, n) => first + n);
    await ask(
      database,
      `{"foreach":{"lambda":"n","expr":{"create":{"ref":{"collection":"notes"},"id":{"var":"n"}},"params":{"object":{"data":{"object":{"n":{"var":"n"},"text":"a note as long as many"}}}}}},"collection":[${ids.join(',')}]}`,
    );
  }
}
