/** Imports: reads a source, reports clashes with existing data, and writes the source in batches. */
import { DATA_LIMITS } from '../limits.ts';
import { askOf, type Ask, type AskOptions, type DataDatabase } from './ask.ts';
import { Clashes } from './clashes.ts';
import { DataError, requireKnown } from './data-error.ts';
import { Destination } from './destination.ts';
import type { DataProgress } from './export.ts';
import type { DocumentItem, GoneItem, Item, VersionItem } from './items.ts';
import {
  canReadTwice,
  linesOf,
  sourceOf,
  textOf,
  type DataSource,
  type ReadSource,
} from './lines.ts';
import { csvItems, type CsvOptions } from './read-csv.ts';
import { exportItems } from './read-export.ts';
import { jsonLinesItems, type RowOptions } from './read-json-lines.ts';
import { describeSchema, readSchema, stateOf, writeSchema, type SchemaObject } from './schema.ts';
import {
  Batch,
  compareBatch,
  describe,
  findLiving,
  OUTCOMES,
  writeBatch,
  writeVersions,
  type OnClash,
  type Outcome,
} from './write-batches.ts';

interface CommonImportOptions extends AskOptions {
  /**
   * What happens with documents and schema objects that exist with other contents. `refuse`, the default: the import is refused before
   * anything is written. `skip`: they stay as they are. `replace`: they are replaced. Those with the same contents always stay as they are.
   */
  readonly onClash?: OnClash;
  readonly onProgress?: (progress: DataProgress) => void;
}

/** The source was made by `exportDatabase()`. */
export interface ImportExportOptions extends CommonImportOptions {
  readonly format?: 'export';
}

/** The source has a JSON object on each line: a document as `Get` returns it, or only its data. */
export interface ImportJsonLinesOptions extends CommonImportOptions, RowOptions {
  readonly format: 'jsonl';
}

/** The source is a table with the names of columns in its first line, and their types if the options do not give them: `name:string`. */
export interface ImportCsvOptions extends CommonImportOptions, CsvOptions {
  readonly format: 'csv';
}

export type ImportOptions = ImportExportOptions | ImportJsonLinesOptions | ImportCsvOptions;

const COMMON = ['secret', 'signal', 'format', 'onClash', 'onProgress'];
const ROWS = [...COMMON, 'collection', 'id'];
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  export: COMMON,
  jsonl: ROWS,
  csv: [...ROWS, 'columns', 'delimiter'],
};

/** Numbers of documents. */
export interface ImportResult {
  readonly imported: number;
  /** Documents that existed with the same contents. */
  readonly same: number;
  /** Documents that existed with other contents and were not changed. */
  readonly kept: number;
  readonly replaced: number;
  /** Documents that were not imported because their `ttl` has passed. */
  readonly expired: number;
  /** Earlier versions of documents that were imported. */
  readonly versions: number;
  /** Kinds of objects that the exported database had and the export does not contain: `credentials`, `tokens`, `keys`, `databases`. */
  readonly omitted: readonly string[];
}

/**
 * Writes the contents of a source. An interrupted import can be run again with the same arguments: it continues with what is missing.
 * @throws DataError
 * @example
 * const lines = new Blob(['{"no":3,"title":"two frogs"}']);
 * const result = await importDatabase(db, lines, { format: 'jsonl', collection: 'notes', id: 'no' });
 * console.log(result.imported); // 1
 */
export async function importDatabase(
  database: DataDatabase,
  source: DataSource,
  options: ImportOptions = {},
): Promise<ImportResult> {
  checkOptions(options);
  const ask = askOf(database, options);
  const readable = sourceOf(source);
  requireOneOf('onClash', options.onClash ?? 'refuse', ['refuse', 'skip', 'replace']);
  const present = await readSchema(ask, '{"now":null}', 'what may be seen');
  return new Import(ask, new Destination(ask, present), readable, options).run();
}

/** @throws DataError `invalid_option` */
function requireOneOf(name: string, given: string, choices: readonly string[]): void {
  if (choices.includes(given)) return;
  const sentence = `\`${name}\` must be one of ${choices.join(', ')}, but is ${given}.`;
  throw new DataError('invalid_option', sentence);
}

/** @throws DataError `invalid_option` */
function checkOptions(options: ImportOptions): void {
  const { format = 'export', collection } = { ...options } as Partial<
    Record<'format' | 'collection', string>
  >;
  requireKnown(options, OPTIONS[format] ?? ROWS);
  requireOneOf('format', format, Object.keys(OPTIONS));
  if (format !== 'export' && typeof collection !== 'string')
    throw new DataError('invalid_option', '`collection` must be a name.');
}

class Import {
  private readonly ask: Ask;
  private readonly destination: Destination;
  private readonly source: ReadSource;
  private readonly options: ImportOptions;
  private readonly onClash: OnClash;
  private readonly clashes = new Clashes();
  private omitted: readonly string[] = [];
  private total: number | undefined = undefined;
  private readonly counts = Object.fromEntries(OUTCOMES.map((each) => [each, 0])) as Record<
    Outcome,
    number
  >;
  private versions = 0;

  constructor(ask: Ask, destination: Destination, source: ReadSource, options: ImportOptions) {
    this.ask = ask;
    this.destination = destination;
    this.source = source;
    this.options = options;
    this.onClash = options.onClash ?? 'refuse';
  }

  async run(): Promise<ImportResult> {
    if (canReadTwice(this.source)) await this.check();
    await this.write();
    const { clash: _, ...counts } = this.counts;
    return { ...counts, versions: this.versions, omitted: this.omitted };
  }

  private items(): AsyncGenerator<Item> {
    const { options, source } = this;
    if (options.format === 'csv') return csvItems(textOf(source, options.signal), options);
    const lines = linesOf(source, options.signal);
    return options.format === 'jsonl' ? jsonLinesItems(lines, options) : exportItems(lines);
  }

  // --- before anything is written ---------------------------------------------------------------

  /** Reads the whole source, and compares it with the existing data. @throws DataError */
  private async check(): Promise<void> {
    const documents = new Batch<DocumentItem>();
    const gone = new Batch<GoneItem>();
    let done = 0;
    for await (const item of this.items()) {
      this.keep(item);
      if (item.type === 'document') {
        if (documents.isFullFor(item)) await this.compare(documents.take());
        if (!(await this.destination.targetOf(item.collection)).isEmpty) documents.add(item);
        done += 1;
        if (done % DATA_LIMITS.batchDocuments === 0) this.report('checking', done);
      } else if (item.type === 'gone') {
        if (gone.isFullFor(item)) await this.compareGone(gone.take());
        if (!(await this.destination.targetOf(item.collection)).isEmpty) gone.add(item);
      }
    }
    await this.compare(documents.take());
    await this.compareGone(gone.take());
    this.total = done;
    this.report('checking', done);
    this.clashes.requireNone();
  }

  /** Keeps the contents of the header and the schema. @throws DataError `invalid_option` */
  private keep(item: Item): void {
    if (item.type === 'schema') this.addSchema(item.object);
    if (item.type !== 'header') return;
    const { omitted, hasHistory } = item.header;
    this.omitted = omitted;
    if (hasHistory && this.onClash !== 'refuse') {
      const sentence =
        '`onClash`: history cannot be mixed with other documents; export without it, or leave it out.';
      throw new DataError('invalid_option', sentence);
    }
  }

  private addSchema(object: SchemaObject): void {
    const { wanted, present } = this.destination;
    wanted.push(object);
    if (this.onClash === 'refuse' && stateOf(object, present) === 'different')
      this.clashes.add(`The ${describeSchema(object)} already exists, with another definition.`);
  }

  private async compare(batch: readonly DocumentItem[]): Promise<void> {
    if (batch.length === 0) return;
    const outcomes = await compareBatch(this.ask, batch);
    for (const [at, item] of batch.entries()) {
      if (outcomes[at] === 'same') (await this.destination.targetOf(item.collection)).same += 1;
      if (outcomes[at] === 'clash' && this.onClash === 'refuse')
        this.clashes.add(
          `${describe(item)} (line ${item.line}) already exists, with other contents.`,
        );
    }
  }

  private async compareGone(batch: readonly GoneItem[]): Promise<void> {
    if (batch.length === 0) return;
    for (const item of await findLiving(this.ask, batch))
      this.clashes.add(
        `${describe(item)} (line ${item.line}) is there, and deleted in the source.`,
      );
  }

  // --- writing ----------------------------------------------------------------------------------

  private async write(): Promise<void> {
    const documents = new Batch<DocumentItem>();
    const versions = new Batch<VersionItem>();
    const isChecked = canReadTwice(this.source);
    let hasSchema = false;
    /** The write in progress: one batch is written while the next one is read. */
    let underWay: Promise<void> = Promise.resolve();
    const flush = async (): Promise<void> => {
      const [batch, olds] = [documents.take(), versions.take()];
      await underWay;
      underWay = this.writeDocuments(batch).then(() => this.writeOlds(olds));
      // The promise is awaited later. Until then, a failure must not be reported as an unhandled rejection.
      underWay.catch(() => undefined);
    };
    this.report('importing', 0);
    try {
      for await (const item of this.items()) {
        if (!isChecked) this.keep(item);
        if (item.type === 'header' || item.type === 'schema') continue;
        if (!hasSchema) await this.writeSchema();
        hasSchema = true;
        if (!isChecked) await this.destination.requireEmpty(item.collection);
        if (item.type === 'document') {
          if (documents.isFullFor(item)) await flush();
          documents.add(item);
        } else if (item.type === 'version') {
          if (versions.isFullFor(item)) await flush();
          versions.add(item);
        }
      }
      if (!hasSchema) await this.writeSchema();
      await flush();
    } finally {
      // Also if the source fails: nothing may be written any more once the import has ended.
      await underWay;
    }
  }

  private async writeSchema(): Promise<void> {
    const { wanted, present } = this.destination;
    this.clashes.requireNone();
    await writeSchema(this.ask, wanted, present, this.onClash === 'replace');
  }

  private async writeDocuments(batch: readonly DocumentItem[]): Promise<void> {
    const [first] = batch;
    if (!first) return;
    const keepsTimes = await this.destination.mayKeepTimes(first.collection);
    const outcomes = await writeBatch(this.ask, batch, { onClash: this.onClash, keepsTimes });
    for (const each of outcomes) this.counts[each] += 1;
    this.report(
      'importing',
      OUTCOMES.reduce((sum, each) => sum + this.counts[each], 0),
    );
  }

  private async writeOlds(batch: readonly VersionItem[]): Promise<void> {
    if (batch.length === 0) return;
    await writeVersions(this.ask, batch);
    this.versions += batch.length;
  }

  private report(phase: DataProgress['phase'], done: number): void {
    this.options.onProgress?.({ phase, done, total: this.total });
  }
}
