/**
 * `burrow import` of a folder: imports exports of collections as JSON lines, and schema as queries, into a database of a running
 * hub. Existing documents are not changed, so an interrupted import can be run again.
 */
import { appendFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { JsonError, parseJson, quote, type Json } from '../../src/codec/json.ts';
import { DataError } from '../../src/data/data-error.ts';
import { DOCUMENT_ID, documentIdIn } from '../../src/data/items.ts';
import { linesOf } from '../../src/data/lines.ts';
import { refusalOf, refusalsOfLine } from '../../src/data/refusals.ts';
import { expressionOf } from '../../src/data/wire.ts';
import { streamOf } from './data.ts';
import { queryHub, queryHubText, QueryRefused } from './query-hub.ts';
import { OperationFault } from './operation-fault.ts';

export interface ImportRequest {
  readonly url: string;
  readonly secret: string;
  /**
   * Contains `schema.jsonl` with one query per line, and `<collection>.jsonl` files with one document per line. `.ndjson` and
   * `.gz` are accepted too.
   */
  readonly folder: string;
  readonly dryRun: boolean;
  /** Documents keep the time of their last change. Otherwise they are created with the current time. */
  readonly keepTs: boolean;
  readonly onProgress: (sentence: string) => void;
}

export interface ImportTotals {
  readonly imported: number;
  /** Documents that existed and were not changed. */
  readonly existing: number;
  readonly rejected: number;
}

const SCHEMA = 'schema';
export const REPORT = 'import-report.jsonl';
const BATCH = 64;

export async function importLines(request: ImportRequest): Promise<ImportTotals> {
  const { folder } = request;
  const { files, others } = filesIn(folder);
  const passedOver = others.length === 0 ? '' : ` Not imported: ${others.join(', ')}.`;
  if (files.length === 0)
    throw new OperationFault(`There are no .jsonl files in ${folder}.${passedOver}`);
  const totals = { imported: 0, existing: 0, rejected: 0 };
  if (!request.dryRun) rmSync(join(folder, REPORT), { force: true });
  const createsSchema = files.some(({ collection }) => collection === SCHEMA);
  for (const file of files) {
    const current = new FileImport(request, file, createsSchema, totals);
    await current.run();
    request.onProgress(`${file.name}: ${current.lines} lines.`);
  }
  if (passedOver !== '') request.onProgress(`${passedOver.trim()} ${WHY_NOT}`);
  return totals;
}

const WHY_NOT =
  'From a folder, only .jsonl and .ndjson files are imported, also compressed (.gz). Import a table by itself: burrow import <file> --collection <name>.';

interface FolderFile {
  readonly name: string;
  /** The name of a collection, or `schema`. */
  readonly collection: string;
}

/** Returns the files in the order of their import: schema first. */
function filesIn(folder: string): {
  readonly files: readonly FolderFile[];
  readonly others: readonly string[];
} {
  const files: FolderFile[] = [];
  const others: string[] = [];
  const names = readdirSync(folder).filter((name) => name !== REPORT && !name.startsWith('.'));
  for (const name of names.sort()) {
    const [, collection] = /^(.+)\.(?:jsonl|ndjson)(?:\.gz)?$/i.exec(name) ?? [];
    if (collection === undefined) others.push(name);
    else if (collection === SCHEMA) files.unshift({ name, collection });
    else files.push({ name, collection });
  }
  return { files, others };
}

interface Line {
  readonly number: number;
  /** The query that imports the line. */
  readonly query: string;
  /** The params of a document, which are part of the query. */
  readonly params: string;
}

/** The path of the params within the query that imports a document. */
const PARAMS_AT = ['0', 'else', 'do', '0', 'params'];

class FileImport {
  private readonly request: ImportRequest;
  private readonly file: FolderFile;
  private readonly createsSchema: boolean;
  private readonly totals: { imported: number; existing: number; rejected: number };
  private batch: Line[] = [];
  lines = 0;

  constructor(
    request: ImportRequest,
    file: FolderFile,
    createsSchema: boolean,
    totals: FileImport['totals'],
  ) {
    this.request = request;
    this.file = file;
    this.createsSchema = createsSchema;
    this.totals = totals;
  }

  async run(): Promise<void> {
    await this.requireCollection();
    const { name } = this.file;
    try {
      await this.read(join(this.request.folder, name));
    } catch (reason) {
      if (!(reason instanceof DataError)) throw reason;
      throw new OperationFault(`${name}: ${reason.message}`, { cause: reason });
    }
  }

  /** @throws DataError if the file is not text */
  private async read(path: string): Promise<void> {
    for await (const { number, text } of linesOf(() => streamOf(path), undefined)) {
      this.lines = number;
      if (text.trim() === '') continue;
      this.add(text);
      if (this.batch.length < this.batchSize) continue;
      await this.send();
      if (this.lines % (BATCH * 16) === 0)
        this.request.onProgress(`${this.file.name}: ${this.lines} lines.`);
    }
    await this.send();
  }

  /** Schema objects are created one by one, in order. */
  private get batchSize(): number {
    return this.isSchema ? 1 : BATCH;
  }

  private get isSchema(): boolean {
    return this.file.collection === SCHEMA;
  }

  private async requireCollection(): Promise<void> {
    if (this.isSchema) return;
    const { name, collection } = this.file;
    const { url, secret, folder, dryRun } = this.request;
    const exists = await queryHub(url, secret, { exists: { collection } });
    // A dry run creates no schema, so the collection may be missing.
    if (exists === true || (dryRun && this.createsSchema)) return;
    const remedy =
      this.createsSchema && this.totals.rejected > 0
        ? `${join(folder, REPORT)} says which lines were rejected, and why`
        : 'create it, or add its query to schema.jsonl';
    throw new OperationFault(`There is no collection '${collection}' for ${name}: ${remedy}.`);
  }

  private add(text: string): void {
    try {
      const json = parseJson(text);
      const written = this.isSchema
        ? { query: text, params: '' }
        : documentQuery(json, this.file.collection, this.request.keepTs);
      this.batch.push({ number: this.lines, ...written });
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
      if (!(reason instanceof QueryRefused)) throw reason;
      // One invalid line fails the whole batch, so each line is sent alone.
      for (const line of batch) await this.sendAlone(line);
    }
  }

  private async sendAlone({ number, query, params }: Line): Promise<void> {
    try {
      this.count(await this.ask(`[${query}]`));
    } catch (reason) {
      if (!(reason instanceof QueryRefused)) throw reason;
      if (OF_NO_LINE.has(reason.status))
        throw new OperationFault(`${this.file.name}, line ${number}: ${reason.message}`, {
          cause: reason,
        });
      if (this.isSchema && reason.code === 'instance already exists') this.totals.existing += 1;
      else {
        const [refusal] = this.isSchema
          ? reason.errors.map(refusalOf)
          : refusalsOfLine({ line: number, params }, reason.errors, PARAMS_AT);
        this.reject(number, reason.code, refusal?.description ?? reason.message);
      }
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
    const { name } = this.file;
    const entry = { file: name, line, code, description };
    if (this.request.dryRun) this.request.onProgress(`${name}, line ${line}: ${description}`);
    else appendFileSync(join(this.request.folder, REPORT), `${JSON.stringify(entry)}\n`);
  }
}

/** Statuses that do not depend on the line: wrong secret, rate limit, database unavailable, disk full. */
const OF_NO_LINE: ReadonlySet<number> = new Set([401, 429, 503, 507]);

/** The line is not a document that can be imported. */
class InvalidLine extends Error {}

/** Makes the query that imports a document. It returns false if the document exists. */
function documentQuery(
  json: Json,
  collection: string,
  keepTs: boolean,
): Pick<Line, 'query' | 'params'> {
  if (!(json instanceof Map)) throw new InvalidLine('A document must be an object.');
  const id = idOf(json.get('ref'));
  const ref = `{"ref":{"collection":${quote(collection)}},"id":${quote(id)}}`;
  const members = ['data', 'ttl', 'permissions']
    .filter((name) => json.has(name))
    .map((name) => `${quote(name)}:${expressionOf(json.get(name) ?? null)}`);
  const params = `{"object":{${members.join(',')}}}`;
  const ts = json.get('ts');
  const make =
    keepTs && ts !== undefined
      ? `{"insert":${ref},"ts":${expressionOf(ts)},"action":"create","params":${params}}`
      : `{"create":${ref},"params":${params}}`;
  return { query: `{"if":{"exists":${ref}},"then":false,"else":{"do":[${make},true]}}`, params };
}

function idOf(ref: Json | undefined): string {
  const inner = ref instanceof Map ? (ref.get('@ref') ?? ref) : undefined;
  const given = inner instanceof Map ? inner.get('id') : undefined;
  if (given === undefined)
    throw new InvalidLine('A document must have a ref: {"@ref":{"id":"…"}}.');
  const id = documentIdIn(given);
  if (id !== undefined) return id;
  throw new InvalidLine(`The id of a document must be ${DOCUMENT_ID}.`);
}
