/** Runs the queries of the page's clients, and records them in the query log. */
import { loggedAnswer } from '../../src/http/answer-query.ts';
import type { RequestOptions } from '../../src/http/request-headers.ts';
import { traceparentOf } from '../../src/http/trace-context.ts';
import type { QueryAnswer } from '../../src/engine/host.ts';
import type { HttpHost } from '../../src/http/message.ts';
import type { QueryCall, QueryReply } from '../../src/host/query.ts';
import type { Abortable } from './abortable-calls.ts';
import { tagsIn } from './query-options.ts';
import { queryReply } from './replies.ts';

const API_VERSION = '4';
/**
 * Names, in the error for a write, the queries with `at` that the copy may answer. These may only read: a write would be executed on the
 * copy instead of at the hub, or twice.
 */
export const READ_PLACE = "queries with `at`, except `at: 'hub'`";
/** How long log records are collected, in ms, before they are written together. The first record after a pause is written at once. */
const FLUSH_MS = 2000;

export class QueryRunner {
  private readonly host: HttpHost;
  private flushing: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(host: HttpHost) {
    this.host = host;
  }

  async run(call: QueryCall, { isAbandoned }: Partial<Abortable>): Promise<QueryReply> {
    const arrived = this.host.clock();
    const tags = tagsIn(call);
    const { secret, query, timeoutMs } = call;
    const answer = await this.host.engine.query({
      secret,
      query,
      apiVersion: API_VERSION,
      ...(call.at === undefined ? { allows: 'write' } : { allows: 'read', placeName: READ_PLACE }),
      timeoutMs,
      ...(isAbandoned && { isAbandoned }),
    });
    this.record(call, tags, arrived, answer);
    if (answer.notices) console.warn('Burrow:', ...answer.notices);
    return queryReply(answer, secret);
  }

  /** Ensures that recorded queries are written soon, even if they are few: the page may be left at any time. */
  scheduleFlush(): void {
    const { log } = this.host;
    if (!log?.isDirty || this.flushing !== undefined) return;
    void log.flush();
    this.flushing = setTimeout(() => {
      this.flushing = undefined;
      this.scheduleFlush();
    }, FLUSH_MS);
  }

  /** Cancels the scheduled flush: the log writes its remaining records when it is closed. */
  close(): void {
    clearTimeout(this.flushing);
  }

  private record(
    call: QueryCall,
    tags: RequestOptions['tags'],
    arrived: number,
    answer: QueryAnswer,
  ): void {
    const { log, random } = this.host;
    if (!log) return;
    log.add(
      {
        ts: arrived,
        method: 'POST',
        path: '/',
        query: call.query,
        apiVersion: API_VERSION,
        userAgent: globalThis.navigator?.userAgent ?? '',
        tags,
        traceparent: traceparentOf(call.traceparent, random),
      },
      loggedAnswer(answer),
    );
    this.scheduleFlush();
  }
}
