/** Runs the queries of the page's clients, and records them. */
import { errorOf } from '../../src/http/answer-query.ts';
import { NO_METRICS, refusalBody } from '../../src/engine/session.ts';
import { HeaderFault, readHeaders, type RequestOptions } from '../../src/http/request-headers.ts';
import { traceparentOf } from '../../src/http/trace-context.ts';
import type { QueryAnswer } from '../../src/engine/host.ts';
import type { HttpHost } from '../../src/http/message.ts';
import type { QueryCall, QueryReply } from '../../src/host/query.ts';
import type { Abortable } from './abortable-calls.ts';
import { queryReply } from './replies.ts';

const API_VERSION = '4';
/** Where a write would be made on the copy although the hub is meant, or twice. */
export const READ_PLACE = 'queries that say where they are answered (`at`)';
/** Log records may wait this long for company before they are written. */
const FLUSH_MS = 2000;

export class QueryRunner {
  private readonly host: HttpHost;
  private flushing: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(host: HttpHost) {
    this.host = host;
  }

  async run(call: QueryCall, { isAbandoned }: Partial<Abortable>): Promise<QueryReply> {
    const arrived = this.host.clock();
    const options = readOptions(call);
    if (options instanceof HeaderFault) {
      const body = refusalBody('bad request', options.message);
      return { status: 400, body, metrics: NO_METRICS };
    }
    const { secret, query } = call;
    const { timeoutMs } = options;
    const answer = await this.host.engine.query({
      secret,
      query,
      apiVersion: API_VERSION,
      ...(call.at === undefined ? { allows: 'write' } : { allows: 'read', placeName: READ_PLACE }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(isAbandoned && { isAbandoned }),
    });
    this.record(call, options, arrived, answer);
    if (answer.notices) console.warn('Burrow:', ...answer.notices);
    return queryReply(answer, secret);
  }

  /** What was recorded is written soon, however few there are. */
  scheduleFlush(): void {
    const { log } = this.host;
    if (!log?.isDirty || this.flushing !== undefined) return;
    this.flushing = setTimeout(() => {
      this.flushing = undefined;
      void log.flush();
    }, FLUSH_MS);
  }

  /** What was recorded is written by the log's own end. */
  close(): void {
    clearTimeout(this.flushing);
  }

  private record(
    call: QueryCall,
    options: RequestOptions,
    arrived: number,
    answer: QueryAnswer,
  ): void {
    const { log, random } = this.host;
    if (!log) return;
    const { status, database, metrics, credential, readSet, scanned } = answer;
    const errorCode = status < 400 ? undefined : errorOf(answer).code;
    log.add(
      {
        ts: arrived,
        method: 'POST',
        path: '/',
        query: call.query,
        apiVersion: API_VERSION,
        userAgent: globalThis.navigator?.userAgent ?? '',
        tags: options.tags,
        traceparent: traceparentOf(call.traceparent, random),
      },
      { status, database, metrics, credential, errorCode, readSet, scanned },
    );
    this.scheduleFlush();
  }
}

/** The same checks as for headers of a request. */
function readOptions({ tags, timeoutMs }: QueryCall): RequestOptions | HeaderFault {
  try {
    return readHeaders({
      headers: {
        'x-faunadb-api-version': API_VERSION,
        ...(tags !== undefined && { 'x-fauna-tags': tags }),
        ...(timeoutMs !== undefined && { 'x-query-timeout': String(timeoutMs) }),
      },
    });
  } catch (reason) {
    if (reason instanceof HeaderFault) return reason;
    throw reason;
  }
}
