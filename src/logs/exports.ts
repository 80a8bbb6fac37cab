/**
 * Log exports. A request goes from `Pending` via `Requested` to `Complete`, `DoesNotExist`, `Failed` or `TimedOut`, and from `Complete`
 * via `CreatingNewUrl` to `Complete` with a new URL. Requests and files are stored as rows, so both survive a reload; interrupted work
 * starts again. Spec: auth 6.3, seed "Log export API".
 */
import type { LogRequestRecord } from '../answers.ts';
import { hexOfBytes } from '../codec/hex.ts';
import { encodeBase64Url } from '../codec/base64.ts';
import { isSameText } from '../engine/access.ts';
import type { EngineOptions } from '../engine/host.ts';
import { LIMITS } from '../limits.ts';
import { DAY_MICROS } from '../values/time.ts';
import type { Micros } from '../values/value.ts';
import { writeFile, type FileOptions } from './export-file.ts';
import { ExportRefusal, type ExportRequest, type ListRequest } from './export-request.ts';
import {
  addRequest,
  advance,
  readChunks,
  readRequest,
  readRequests,
  recordOf,
  removeChunks,
  removeRequest,
  REQUESTS_MAX,
  type ExportRow,
  type MakeUrl,
} from './export-rows.ts';

export interface ExportsOptions extends FileOptions, Pick<EngineOptions, 'random'> {
  /** The query log. It is flushed before an export, because records may still be in memory. */
  readonly log: { flush(): Promise<void> };
  /**
   * Runs `body` while no other tab or process does; if another one does, does not run it. If absent, there are no others. It only avoids
   * double work: correctness does not depend on it, because each attempt has a number that its writes check.
   */
  readonly exclusively?: (body: () => Promise<void>) => Promise<void>;
  /** Signs a URL, from its parts. If absent, the signature is random. */
  readonly sign?: (text: string) => string;
  readonly deadlineMs?: number;
  /** Receives errors that no request shows. */
  readonly report?: (reason: unknown) => void;
}

/** The caller: the database of its credential. It sees requests of this database only, not of an earlier database with the same name. */
export interface Viewer {
  readonly database: readonly string[];
  /** Since when the database has had that name. */
  readonly since: Micros;
  readonly makeUrl: MakeUrl;
}

export interface ExportFile {
  readonly name: string;
  readonly bytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

const DEADLINE_MS = 10 * 60 * 1000;
/** How long finished requests and their files are kept. */
const KEPT_MICROS = 7 * DAY_MICROS;
/** Maximum number of unfinished requests. */
const UNFINISHED_MAX = 16;

const isUnfinished = ({ state }: ExportRow): boolean =>
  state === 'Pending' || state === 'Requested' || state === 'CreatingNewUrl';

export class LogExports {
  private readonly options: ExportsOptions;
  private working: Promise<void> | undefined = undefined;
  private isWanted = false;
  private isClosed = false;
  private lastTime: Micros = 0;

  constructor(options: ExportsOptions) {
    this.options = options;
  }

  get regionGroup(): string {
    return this.options.regionGroup;
  }

  /** @throws ExportRefusal */
  async request(request: ExportRequest, viewer: Viewer): Promise<LogRequestRecord> {
    const { store } = this.options;
    const { database, since } = viewer;
    const given = request.idempotencyToken;
    const token = given && `${JSON.stringify(database)}/${since}/${given}`;
    const rows = await readRequests(store);
    const isKnown = token !== undefined && rows.some((row) => row.token === token);
    if (!isKnown && rows.filter(isUnfinished).length >= UNFINISHED_MAX)
      throw new ExportRefusal(
        429,
        `At most ${UNFINISHED_MAX} log requests can be in progress at once. Wait for one to finish.`,
      );
    // Another tab or process may make the file, which cannot see what is in memory here.
    await this.options.log.flush();
    const created = this.time();
    const row = await addRequest(store, {
      id: timeUuid(created, this.options.random(8)),
      state: 'Pending',
      version: 0,
      created,
      updated: created,
      wish: { ...request, since, start: Math.min(Math.max(request.start, since), request.end) },
      attempt: 0,
      chunks: 0,
      bytes: 0,
      ...(token !== undefined && { token }),
    });
    this.start();
    return this.show(row, viewer);
  }

  /** @throws ExportRefusal 404 */
  async status(id: string, viewer: Viewer): Promise<LogRequestRecord> {
    const row = await this.find(id, viewer);
    // The process that was working on the request may have ended.
    if (isUnfinished(row)) this.start();
    return this.show(row, viewer);
  }

  /**
   * Creates a new URL. `version`: the latest one that the caller knows; if there is a newer one already, that one is returned.
   * @throws ExportRefusal
   */
  async createUrl(
    id: string,
    version: number | undefined,
    viewer: Viewer,
  ): Promise<LogRequestRecord> {
    const row = await this.find(id, viewer);
    if (version !== undefined && version > row.version)
      throw new ExportRefusal(
        400,
        `Version ${version} does not exist; the latest is ${row.version}.`,
      );
    if (version !== undefined && version < row.version) return this.show(row, viewer);
    if (row.state !== 'Complete')
      throw new ExportRefusal(
        409,
        `A URL can only be created for a complete request; this one is ${row.state}.`,
      );
    const changed = await advance(this.options.store, row, {
      state: 'CreatingNewUrl',
      version: row.version + 1,
      updated: this.time(),
    });
    this.start();
    return this.show(changed ?? (await this.find(id, viewer)), viewer);
  }

  /** Lists requests, newest first. @throws ExportRefusal 400 */
  async list(
    { states, nextToken, maxResults }: ListRequest,
    viewer: Viewer,
  ): Promise<{ readonly results: readonly LogRequestRecord[]; readonly next_token?: string }> {
    if (nextToken !== undefined && !UUID.test(nextToken))
      throw new ExportRefusal(400, 'next_token is not valid.');
    const rows = (await readRequests(this.options.store))
      .filter((row) => isWithin(row, viewer))
      .filter((row) => states === undefined || states.includes(row.state))
      .filter((row) => nextToken === undefined || row.id < nextToken)
      .reverse();
    const results = rows.slice(0, maxResults);
    const last = results.at(-1);
    return {
      results: results.map((row) => this.show(row, viewer)),
      ...(last && rows.length > maxResults && { next_token: last.id }),
    };
  }

  /**
   * The file of a URL. Undefined if the URL has expired, was replaced or never existed.
   * @param signature must be given for URLs from outside, because their other parts can be guessed
   */
  async file(id: string, version: number, signature?: string): Promise<ExportFile | undefined> {
    const row = UUID.test(id) ? await readRequest(this.options.store, id) : undefined;
    const url = row?.state === 'Complete' && row.version === version ? row.url : undefined;
    if (!row || !url || url.expires <= this.options.clock()) return undefined;
    if (signature !== undefined && !isSameText(signature, url.signature)) return undefined;
    const chunks = readChunks(this.options.store, row);
    return { name: `burrow-logs-${id}.json.gz`, bytes: row.bytes, chunks };
  }

  /** Works on all unfinished requests. Call it once after opening, to resume them. Never rejects. */
  work(): Promise<void> {
    this.isWanted = true;
    this.working ??= this.workWhileWanted().finally(() => {
      this.working = undefined;
    });
    return this.working;
  }

  /** Stops the work at its next step. Unfinished requests are resumed when the database is opened again. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.working;
  }

  private start(): void {
    void this.work();
  }

  private async workWhileWanted(): Promise<void> {
    const exclusively = this.options.exclusively ?? ((body) => body());
    try {
      while (this.isWanted && !this.isClosed) {
        this.isWanted = false;
        await exclusively(() => this.workOnAll());
      }
    } catch (reason) {
      this.options.report?.(reason);
    }
  }

  private async workOnAll(): Promise<void> {
    const { store, clock } = this.options;
    const rows = await readRequests(store);
    for (const row of rows.filter(isUnfinished)) {
      if (this.isClosed) return;
      await this.workOn(row);
    }
    const finished = rows.filter((row) => !isUnfinished(row));
    const isOld = (row: ExportRow, index: number): boolean =>
      row.created < clock() - KEPT_MICROS || index < finished.length - REQUESTS_MAX;
    for (const row of finished.filter(isOld)) await removeRequest(store, row);
  }

  private async workOn(row: ExportRow): Promise<void> {
    try {
      if (row.state === 'CreatingNewUrl') await this.complete(row, {});
      else await this.extract(row);
    } catch (reason) {
      this.options.report?.(reason);
      await this.give(row.id, 'Failed');
    }
  }

  private async extract(pending: ExportRow): Promise<void> {
    const { store, log } = this.options;
    const deadline = pending.created + (this.options.deadlineMs ?? DEADLINE_MS) * 1000;
    const attempt = pending.attempt + 1;
    const row = await advance(store, pending, {
      state: 'Requested',
      attempt,
      updated: this.time(),
    });
    if (!row) return;
    await removeChunks(store, row.id, attempt);
    if (this.options.clock() >= deadline) return this.give(row.id, 'TimedOut');
    await log.flush();
    const outcome = await writeFile(row, deadline, () => this.isClosed, this.options);
    switch (outcome.state) {
      case 'written':
        await this.complete(row, { chunks: outcome.chunks, bytes: outcome.bytes });
        return;
      case 'empty':
        await this.give(row.id, 'DoesNotExist');
        return;
      case 'late':
        await this.give(row.id, 'TimedOut');
        return;
      case 'taken':
      case 'stopped':
    }
  }

  private async complete(row: ExportRow, made: Partial<ExportRow>): Promise<void> {
    const expires = this.options.clock() + LIMITS.blobUrlLifeMs * 1000;
    const { sign, random } = this.options;
    const signature = sign?.(`${row.id}/${row.version}/${expires}`) ?? encodeBase64Url(random(24));
    const url = { signature, expires };
    await advance(this.options.store, row, {
      ...made,
      state: 'Complete',
      url,
      updated: this.time(),
    });
  }

  /** Ends a request without a file. */
  private async give(id: string, state: 'Failed' | 'TimedOut' | 'DoesNotExist'): Promise<void> {
    const { store } = this.options;
    const row = await readRequest(store, id);
    if (!row || !isUnfinished(row)) return;
    await advance(store, row, { state, updated: this.time() });
    await removeChunks(store, id);
  }

  private async find(id: string, viewer: Viewer): Promise<ExportRow> {
    const row = UUID.test(id) ? await readRequest(this.options.store, id) : undefined;
    if (row && isWithin(row, viewer)) return row;
    throw new ExportRefusal(404, 'There is no log request with this id.');
  }

  private show(row: ExportRow, { makeUrl }: Viewer): LogRequestRecord {
    return recordOf(row, makeUrl, this.options.clock());
  }

  /** The wall clock, but never the same time twice, so that the ids made from it are ordered. */
  private time(): Micros {
    this.lastTime = Math.max(this.options.clock(), this.lastTime + 1);
    return this.lastTime;
  }
}

/** A viewer sees a request only within its own database: requests made for other databases may contain more than it may see. */
const isWithin = ({ wish: { path, since = 0 } }: ExportRow, viewer: Viewer): boolean =>
  since >= viewer.since && viewer.database.every((name, index) => path[index] === name);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A UUID of version 7. Its text order is the order of time, with a resolution of a quarter of a microsecond. */
function timeUuid(ts: Micros, random: Uint8Array): string {
  const ms = Math.floor(ts / 1000);
  const fraction = Math.floor(((ts - ms * 1000) * 4096) / 1000);
  const time = ms.toString(16).padStart(12, '0');
  const low = 0x7000 + fraction;
  const [first = 0, ...rest] = random;
  const tail = hexOfBytes(Uint8Array.of(0x80 | (first & 0x3f), ...rest));
  return `${time.slice(0, 8)}-${time.slice(8)}-${low.toString(16)}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}
