import type { LogRequestRecord, LogState } from '../../answers.ts';
import type { OptionRow, OptionTable } from '../../host/options.ts';
import type { LogFile } from '../../host/log.ts';
import type { HttpCall, HttpReply } from '../../host/query.ts';
import type { RefusalCode } from '../../errors.ts';
import { refusalError } from '../errors.ts';
import { encodeQuery } from '../queries/encode.ts';
import { anything, readOptions } from '../read-options.ts';
import { BlobUrls } from './blob-urls.ts';

export interface LogRequest {
  /** Inclusive. */
  readonly time_start: string | Date;
  /** Exclusive. */
  readonly time_end: string | Date;
  /** Region group and names of the nested databases: `local/child`. */
  readonly database?: string;
  readonly regionGroup?: string;
  /** A UUID. Requests with the same token within 24 hours are treated as one. */
  readonly idempotency_token?: string;
}

/** The HTTP route checks the values. */
const REQUEST = {
  time_start: anything,
  time_end: anything,
  database: anything,
  regionGroup: anything,
  idempotency_token: anything,
} satisfies Record<keyof LogRequest, OptionRow>;

export interface LogList {
  readonly results: readonly LogRequestRecord[];
  /** Pass it to the next `list()` call to continue the list; absent at the end. */
  readonly next_token?: string;
}

/** What the log calls need from the database. */
export interface LogsHost {
  readonly rootSecret: () => string;
  http(call: HttpCall): Promise<HttpReply>;
  logFile(id: string, version: number): Promise<LogFile | undefined>;
}

const FILE_URL = /^burrow-file:([^/]+)\/(\d+)$/;
/** Only answers of the log routes begin like this. */
const LOG_ANSWER = /^\{"re(?:quest_id|sults)"/;
const QUERY = '?type=query&regionGroup=local';
const POLL_MS = 50;

/**
 * The log export API as methods: requests the query log of a time range as a file to download.
 * @example
 * const time_end = new Date();
 * const time_start = new Date(time_end.getTime() - 3_600_000);
 * const { request_id: id } = await db.logs.request({ time_start, time_end });
 * console.log((await db.logs.list()).results.some(({ request_id }) => request_id === id)); // true
 */
export class Logs {
  private readonly host: LogsHost;
  private readonly urls = new BlobUrls();

  constructor(host: LogsHost) {
    this.host = host;
  }

  /** Requests the log of a time range. The file is made in the background: see `status()`. */
  async request(request: LogRequest): Promise<LogRequestRecord> {
    return this.send('', REQUEST, request);
  }

  /** The current state of a request. */
  async status(id: string): Promise<LogRequestRecord> {
    return this.send(`/${encodeURIComponent(id)}`);
  }

  /**
   * Creates a new URL for the file of a complete request.
   * @param options `version`: the version that the caller already has; the record returned then has a newer one
   */
  async createUrl(
    id: string,
    options: { readonly version?: number } = {},
  ): Promise<LogRequestRecord> {
    let record = await this.send<LogRequestRecord>(
      `/${encodeURIComponent(id)}/url`,
      { version: anything },
      options,
    );
    while (record.state === 'CreatingNewUrl') {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      record = await this.status(id);
    }
    return record;
  }

  /** Lists earlier requests, newest first. Their records have no URLs: `status()` returns the URL of one request. */
  async list(
    options: {
      readonly states?: readonly LogState[];
      readonly next_token?: string;
      readonly max_results?: number;
    } = {},
  ): Promise<LogList> {
    return this.send(
      '/_list',
      { states: anything, next_token: anything, max_results: anything },
      options,
    );
  }

  /**
   * @internal Replaces the file name in an answer of the log routes by a blob URL of this page: a blob URL made in a worker becomes invalid
   * with the worker. In lists URLs are removed instead, because each file would have to be read into memory.
   */
  async http(call: HttpCall): Promise<HttpReply> {
    const reply = await this.host.http(call);
    if (typeof reply.body !== 'string' || !LOG_ANSWER.test(reply.body)) return reply;
    const answer = JSON.parse(reply.body) as LogRequestRecord | LogList;
    const shown =
      'results' in answer
        ? { ...answer, results: answer.results.map(withoutUrl) }
        : await this.withUrl(answer);
    return { ...reply, body: JSON.stringify(shown) };
  }

  /** @internal Revokes all URLs made so far. */
  close(): void {
    this.urls.close();
  }

  /** @param table the fields of the request's body; without a table, a GET request is sent */
  private async send<T>(path: string, table?: OptionTable, given?: object): Promise<T> {
    const sent = table && encodeQuery(readOptions(table, given));
    const { body: text, status } = await this.http({
      method: table ? 'POST' : 'GET',
      path: `/api/v1/logs${path}${QUERY}`,
      headers: { authorization: `Bearer ${this.host.rootSecret()}` },
      body: sent,
    });
    const answer: unknown = JSON.parse(typeof text === 'string' ? text : '{}');
    if (status === 200) return answer as T;
    const { message } = answer as { readonly message: string };
    throw refusalError(CODES[status] ?? 'internal server error', message);
  }

  private async withUrl(record: LogRequestRecord): Promise<LogRequestRecord> {
    const { presigned_url: named, presigned_url_expiration_time: expires } = record;
    const [, id, digits] = FILE_URL.exec(named ?? '') ?? [];
    if (id === undefined || digits === undefined) return record;
    const version = Number(digits);
    const url = await this.urls.urlOf({ id, version }, Date.parse(expires ?? ''), async () => {
      const found = await this.host.logFile(id, version);
      return found && (found.file as Blob);
    });
    return { ...withoutUrl(record), ...(url !== undefined && { presigned_url: url }) };
  }
}

const withoutUrl = ({ presigned_url: _url, ...record }: LogRequestRecord): LogRequestRecord =>
  record;

/** Answers of this API have no error code: the status tells the kind of the error, and the message what is wrong. */
const CODES: Readonly<Record<number, RefusalCode>> = {
  400: 'bad request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not found',
  405: 'method not allowed',
  409: 'log_not_complete',
  413: 'request too large',
  423: 'locked',
  429: 'too many requests',
  503: 'storage_unavailable',
  507: 'quota_exceeded',
};
