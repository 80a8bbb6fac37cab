/**
 * `burrow import`: exports of collections as JSON lines, and schema as queries, into a database of a running hub. Existing
 * documents are left as they are: an import that was interrupted can be run again.
 */
import { appendFileSync, createReadStream, existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { JsonError, parseJson, quote, type Json } from '../../src/codec/json.ts';
import { expressionOf } from '../../src/data/wire.ts';
import { queryHub, queryHubText, QueryRefused } from './query-hub.ts';
import { OperationFault } from './operation-fault.ts';

export interface ImportRequest {
  readonly url: string;
  readonly secret: string;
  /** Holds `schema.jsonl`, one query a line, and `<collection>.jsonl` files, one document a line. */
  readonly folder: string;
  readonly dryRun: boolean;
  /** Documents keep the time of their last change; otherwise they are created now. */
  readonly keepTs: boolean;
  readonly onProgress: (sentence: string) => void;
}

export interface ImportTotals {
  readonly imported: number;
  /** Left as they are. */
  readonly existing: number;
  readonly rejected: number;
}

const SCHEMA = 'schema.jsonl';
const REPORT = 'import-report.jsonl';
const BATCH = 64;

export async function importLines(request: ImportRequest): Promise<ImportTotals> {
  const { folder } = request;
  const files = readdirSync(folder).filter(
    (name) => name.endsWith('.jsonl') && name !== SCHEMA && name !== REPORT,
  );
  const ordered = [...(existsSync(join(folder, SCHEMA)) ? [SCHEMA] : []), ...files.sort()];
  if (ordered.length === 0) throw new OperationFault(`There are no .jsonl files in ${folder}.`);
  const totals = { imported: 0, existing: 0, rejected: 0 };
  if (!request.dryRun) rmSync(join(folder, REPORT), { force: true });
  for (const file of ordered) {
    const current = new FileImport(request, file, totals);
    await current.run();
    request.onProgress(`${file}: ${current.lines} lines.`);
  }
  return totals;
}

interface Line {
  readonly number: number;
  /** The query that imports it. */
  readonly query: string;
}

class FileImport {
  private readonly request: ImportRequest;
  private readonly file: string;
  private readonly totals: { imported: number; existing: number; rejected: number };
  private batch: Line[] = [];
  lines = 0;

  constructor(request: ImportRequest, file: string, totals: FileImport['totals']) {
    this.request = request;
    this.file = file;
    this.totals = totals;
  }

  async run(): Promise<void> {
    await this.requireCollection();
    const input = createReadStream(join(this.request.folder, this.file));
    for await (const text of createInterface({ input, crlfDelay: Infinity })) {
      this.lines += 1;
      if (text.trim() === '') continue;
      this.add(text);
      if (this.batch.length < this.batchSize) continue;
      await this.send();
      if (this.lines % (BATCH * 16) === 0)
        this.request.onProgress(`${this.file}: ${this.lines} lines.`);
    }
    await this.send();
  }

  /** Schema is created one by one, in order. */
  private get batchSize(): number {
    return this.file === SCHEMA ? 1 : BATCH;
  }

  private get collection(): string {
    return basename(this.file, '.jsonl');
  }

  private async requireCollection(): Promise<void> {
    if (this.file === SCHEMA) return;
    const { url, secret, dryRun, folder } = this.request;
    const exists = await queryHub(url, secret, { exists: { collection: this.collection } });
    // A dry run creates no schema.
    if (exists === true || (dryRun && existsSync(join(folder, SCHEMA)))) return;
    throw new OperationFault(
      `There is no collection '${this.collection}' for ${this.file}: create it, or add its query to ${SCHEMA}.`,
    );
  }

  private add(text: string): void {
    try {
      const json = parseJson(text);
      const query =
        this.file === SCHEMA ? text : documentQuery(json, this.collection, this.request.keepTs);
      this.batch.push({ number: this.lines, query });
    } catch (reason) {
      if (!(reason instanceof JsonError) && !(reason instanceof InvalidLine)) throw reason;
      this.reject(this.lines, 'unreadable', reason.message);
    }
  }

  private async send(): Promise<void> {
    const { batch } = this;
    this.batch = [];
    if (batch.length === 0) return;
    if (this.request.dryRun) {
      this.totals.imported += batch.length;
      return;
    }
    try {
      this.count(await this.ask(`[${batch.map(({ query }) => query).join(',')}]`));
    } catch (reason) {
      if (!(reason instanceof QueryRefused) || reason.status === 401) throw reason;
      // One line fails the whole batch: each is tried alone.
      for (const line of batch) await this.sendAlone(line);
    }
  }

  private async sendAlone({ number, query }: Line): Promise<void> {
    try {
      this.count(await this.ask(`[${query}]`));
    } catch (reason) {
      if (!(reason instanceof QueryRefused) || reason.status === 401) throw reason;
      if (this.file === SCHEMA && reason.code === 'instance already exists')
        this.totals.existing += 1;
      else this.reject(number, reason.code, reason.message);
    }
  }

  private ask(query: string): Promise<unknown> {
    return queryHubText(this.request.url, this.request.secret, query);
  }

  private count(outcomes: unknown): void {
    for (const outcome of Array.isArray(outcomes) ? (outcomes as unknown[]) : []) {
      if (outcome === false) this.totals.existing += 1;
      else this.totals.imported += 1;
    }
  }

  private reject(line: number, code: string, description: string): void {
    this.totals.rejected += 1;
    const entry = { file: this.file, line, code, description };
    if (this.request.dryRun) this.request.onProgress(`${this.file}, line ${line}: ${description}`);
    else appendFileSync(join(this.request.folder, REPORT), `${JSON.stringify(entry)}\n`);
  }
}

/** The line holds no document of the collection. */
class InvalidLine extends Error {}

/** Answers false if the document exists. */
function documentQuery(json: Json, collection: string, keepTs: boolean): string {
  if (!(json instanceof Map)) throw new InvalidLine('A document must be an object.');
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
  throw new InvalidLine('A document must have a ref: {"@ref":{"id":"…"}}.');
}
