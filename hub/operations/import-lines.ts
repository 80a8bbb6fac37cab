/**
 * `burrow import`: exports of collections as JSON lines, and schema as queries, into a database of a hub that runs. What is done is noted in a
 * file beside them, and a document that is there already is left as it is: cut off, it can be run again.
 */
import {
  appendFileSync,
  createReadStream,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { JsonError, parseJson, quote, stringifyJson, type Json } from '../../src/codec/json.ts';
import { askHub, askHubText, QueryRefused } from './ask-hub.ts';
import { OperationFault } from './fill-store.ts';

export interface ImportWish {
  readonly url: string;
  readonly secret: string;
  /** Holds `schema.jsonl`, one query a line, and `<collection>.jsonl` files, one document a line. */
  readonly folder: string;
  readonly dryRun: boolean;
  /** Documents keep the time of their last change; without it they are as of now. */
  readonly keepTs: boolean;
  readonly onProgress: (sentence: string) => void;
}

export interface ImportTotals {
  readonly documents: number;
  readonly already: number;
  readonly refused: number;
}

const SCHEMA = 'schema.jsonl';
const STATE = 'import-state.json';
const REPORT = 'import-report.jsonl';
const BATCH = 64;

export async function importLines(wish: ImportWish): Promise<ImportTotals> {
  const { folder } = wish;
  const files = readdirSync(folder).filter(
    (name) => name.endsWith('.jsonl') && name !== SCHEMA && name !== REPORT,
  );
  const ordered = [...(existsSync(join(folder, SCHEMA)) ? [SCHEMA] : []), ...files.sort()];
  if (ordered.length === 0) throw new OperationFault(`There are no .jsonl files in ${folder}.`);
  const totals = { documents: 0, already: 0, refused: 0 };
  const done = readState(folder);
  for (const file of ordered) {
    const run = new FileImport(wish, file, totals);
    await run.from(wish.dryRun ? 0 : (done[file] ?? 0), (lines) => {
      if (wish.dryRun) return;
      done[file] = lines;
      writeState(folder, done);
    });
    wish.onProgress(`${file}: ${run.lines} lines.`);
  }
  return totals;
}

type State = Record<string, number>;

function readState(folder: string): State {
  const path = join(folder, STATE);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as State) : {};
}

function writeState(folder: string, state: State): void {
  const path = join(folder, STATE);
  writeFileSync(`${path}.partial`, JSON.stringify(state));
  renameSync(`${path}.partial`, path);
}

interface Line {
  readonly number: number;
  /** The query that takes it over. */
  readonly query: string;
}

class FileImport {
  private readonly wish: ImportWish;
  private readonly file: string;
  private readonly totals: { documents: number; already: number; refused: number };
  private batch: Line[] = [];
  lines = 0;

  constructor(wish: ImportWish, file: string, totals: FileImport['totals']) {
    this.wish = wish;
    this.file = file;
    this.totals = totals;
  }

  async from(first: number, note: (lines: number) => void): Promise<void> {
    await this.requireCollection();
    const input = createReadStream(join(this.wish.folder, this.file));
    for await (const text of createInterface({ input, crlfDelay: Infinity })) {
      this.lines += 1;
      if (this.lines <= first || text.trim() === '') continue;
      this.take(text);
      if (this.batch.length < this.batchSize) continue;
      await this.send();
      note(this.lines);
      if (this.lines % (BATCH * 16) === 0)
        this.wish.onProgress(`${this.file}: ${this.lines} lines.`);
    }
    await this.send();
    note(this.lines);
  }

  /** Schema goes one by one, and in order. */
  private get batchSize(): number {
    return this.file === SCHEMA ? 1 : BATCH;
  }

  private get collection(): string {
    return basename(this.file, '.jsonl');
  }

  private async requireCollection(): Promise<void> {
    if (this.file === SCHEMA) return;
    const { url, secret, dryRun, folder } = this.wish;
    const isThere = await askHub(url, secret, { exists: { collection: this.collection } });
    // What the schema makes is not there in a dry run.
    if (isThere === true || (dryRun && existsSync(join(folder, SCHEMA)))) return;
    throw new OperationFault(
      `There is no collection '${this.collection}' for ${this.file}: make it, or put a query that does into ${SCHEMA}.`,
    );
  }

  private take(text: string): void {
    try {
      const json = parseJson(text);
      const query =
        this.file === SCHEMA ? text : documentQuery(json, this.collection, this.wish.keepTs);
      this.batch.push({ number: this.lines, query });
    } catch (reason) {
      if (!(reason instanceof JsonError) && !(reason instanceof Untakeable)) throw reason;
      this.refuse(this.lines, 'unreadable', reason.message);
    }
  }

  private async send(): Promise<void> {
    const { batch } = this;
    this.batch = [];
    if (batch.length === 0) return;
    if (this.wish.dryRun) {
      this.totals.documents += batch.length;
      return;
    }
    try {
      this.count(await this.ask(`[${batch.map(({ query }) => query).join(',')}]`));
    } catch (reason) {
      if (!(reason instanceof QueryRefused) || reason.status === 401) throw reason;
      // One of them spoils all: each is tried alone.
      for (const line of batch) await this.sendAlone(line);
    }
  }

  private async sendAlone({ number, query }: Line): Promise<void> {
    try {
      this.count(await this.ask(`[${query}]`));
    } catch (reason) {
      if (!(reason instanceof QueryRefused) || reason.status === 401) throw reason;
      if (this.file === SCHEMA && reason.code === 'instance already exists')
        this.totals.already += 1;
      else this.refuse(number, reason.code, reason.message);
    }
  }

  private ask(query: string): Promise<unknown> {
    return askHubText(this.wish.url, this.wish.secret, query);
  }

  private count(outcomes: unknown): void {
    for (const outcome of Array.isArray(outcomes) ? (outcomes as unknown[]) : []) {
      if (outcome === false) this.totals.already += 1;
      else this.totals.documents += 1;
    }
  }

  private refuse(line: number, code: string, description: string): void {
    this.totals.refused += 1;
    const entry = { file: this.file, line, code, description };
    if (this.wish.dryRun) this.wish.onProgress(`${this.file}, line ${line}: ${description}`);
    else appendFileSync(join(this.wish.folder, REPORT), `${JSON.stringify(entry)}\n`);
  }
}

/** A line that is no document of the collection. */
class Untakeable extends Error {}

/** False when it is there already. */
function documentQuery(json: Json, collection: string, keepTs: boolean): string {
  if (!(json instanceof Map)) throw new Untakeable('A document is an object.');
  const id = idOf(json.get('ref'));
  const ref = `{"ref":{"collection":${quote(collection)}},"id":${quote(id)}}`;
  const members = ['data', 'ttl']
    .filter((name) => json.has(name))
    .map((name) => `${quote(name)}:${expressionOf(json.get(name) ?? null)}`);
  const params = `{"object":{${members.join(',')}}}`;
  const ts = json.get('ts');
  const make =
    keepTs && ts !== undefined
      ? `{"insert":${ref},"ts":${expressionOf(ts)},"action":"create","params":${params}}`
      : `{"create":${ref},"params":${params}}`;
  return `{"if":{"exists":${ref}},"then":false,"else":{"do":[${make},true]}}`;
}

function idOf(ref: Json | undefined): string {
  const inner = ref instanceof Map ? (ref.get('@ref') ?? ref) : undefined;
  const id = inner instanceof Map ? inner.get('id') : undefined;
  if (typeof id === 'string') return id;
  throw new Untakeable('A document needs its ref: {"@ref":{"id":"…"}}.');
}

/** A value as answers show it, as an expression: objects are wrapped, `@ref`, `@ts` and their like stand for themselves. */
function expressionOf(json: Json): string {
  if (Array.isArray(json)) return `[${json.map(expressionOf).join(',')}]`;
  if (!(json instanceof Map)) return stringifyJson(json);
  const [tag = '', ...more] = json.keys();
  const inner = json.get(tag);
  // An object with a name that looks like a tag.
  if (more.length === 0 && tag === '@obj' && inner instanceof Map)
    return `{"object":{"@obj":${membersOf(inner)}}}`;
  if (more.length === 0 && tag.startsWith('@')) return stringifyJson(json);
  return `{"object":${membersOf(json)}}`;
}

const membersOf = (json: ReadonlyMap<string, Json>): string =>
  `{${[...json].map(([name, value]) => `${quote(name)}:${expressionOf(value)}`).join(',')}}`;
