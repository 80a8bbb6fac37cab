/**
 * `POST /stream`: a query is run once to say what to follow, then each commit that may touch it is asked what it changed, with the
 * secret of the stream, so that nobody is told of what may not be read. Spec: auth 5.
 */
import { stringifyJson, type Json } from '../codec/json.ts';
import type { CommitNotice, QueryAnswer, ReadSet } from '../engine/api.ts';
import type { Micros } from '../values/value.ts';
import { metricHeaders, NO_METRICS, txnHeader } from './answer-headers.ts';
import { answerHeaders, answerOf, runQuery, type Call } from './answer-query.ts';
import { answerText, refuseUnauthorized, type HttpResponse } from './message.ts';
import {
  entriesQuery,
  entryEvents,
  onlyFields,
  STREAM_FIELDS,
  versionEvent,
  versionsQuery,
  type StreamField,
} from './stream-events.ts';
import { streamTarget, type StreamTarget } from './stream-target.ts';
import { touches } from './touches.ts';

const PLACE = 'stream requests';

export async function answerStream(
  call: Call,
  parameters: URLSearchParams,
  query: string,
): Promise<HttpResponse> {
  const fields = readFields(parameters.get('fields'));
  if (!fields) return answerUrlFault(call, `fields must be some of ${STREAM_FIELDS.join(', ')}.`);
  const { engine, onCommit = engine.onCommit.bind(engine) } = call.host;
  const commits = new Commits();
  // Listening begins first: a commit between the answer and the first wait is not missed.
  const stop = onCommit((notice) => commits.add(notice));
  const opening = await runQuery(call, { query, allows: 'read', placeName: PLACE });
  const target = opening.status < 300 ? streamTarget(opening.body) : undefined;
  const refused = opening.status < 300 ? await refusalOf(call, target, opening) : opening;
  if (!target || refused) {
    stop();
    return answerOf(call, refused ?? opening);
  }
  const headers = {
    ...answerHeaders(200, opening.txnTime, { ...opening.metrics, bytesOut: 0 }),
    'content-type': 'application/json;charset=utf-8',
    'x-fauna-stream-id': String(opening.txnTime),
  };
  const follow = new Follower(call, target, query, fields, opening.txnTime);
  let isOpen = true;
  const close = (): void => {
    if (isOpen) stop();
    isOpen = false;
    commits.close();
  };
  return { status: 200, headers, body: closable(follow.frames(commits), close) };
}

/** A generator that waits cannot be told to return: what it waits for is ended first. */
const closable = (frames: AsyncGenerator<string>, close: () => void): AsyncIterable<string> => ({
  [Symbol.asyncIterator]: () => ({
    async next() {
      const result = await frames.next();
      if (result.done === true) close();
      return result;
    },
    async return() {
      close();
      return frames.return(undefined);
    },
  }),
});

/** 400 with an empty position: the original's shape of a faulty URL. */
export async function answerUrlFault(call: Call, description: string): Promise<HttpResponse> {
  const { host, secret } = call;
  const credential = secret === undefined ? undefined : await host.engine.authenticate(secret);
  if (!credential) return refuseUnauthorized(txnHeader(host.clock()));
  const error = { position: [], code: 'invalid url parameter', description };
  const headers = { ...txnHeader(host.clock()), ...metricHeaders(NO_METRICS) };
  return answerText(400, headers, JSON.stringify({ errors: [error] }));
}

/** Why what the query gave cannot be followed; undefined: it can. */
async function refusalOf(
  { host, secret, asked }: Call,
  target: StreamTarget | undefined,
  opening: QueryAnswer,
): Promise<QueryAnswer | undefined> {
  if (!target) return withError(opening, 'invalid argument', UNFIT);
  if (target.of === 'set') return undefined;
  // A ref into a collection that is not there renders like any other.
  const answer = await host.engine.query({
    secret,
    query: `{"documents":${target.collection}}`,
    apiVersion: asked.apiVersion,
    allows: 'read',
  });
  const [fault] = answer.faults ?? [];
  return fault && withError(opening, fault.code, fault.description);
}

const UNFIT =
  'Expected a Document Ref or Version of a user collection, a Match, or the Documents of a user collection.';

const withError = (opening: QueryAnswer, code: string, description: string): QueryAnswer => ({
  ...opening,
  status: 400,
  body: JSON.stringify({ errors: [{ position: [], code, description }] }),
});

function readFields(text: string | null): ReadonlySet<StreamField> | undefined {
  if (text === null) return new Set(['action', 'document', 'index']);
  const names = text.split(',').map((name) => name.trim());
  const fields = STREAM_FIELDS.filter((field) => names.includes(field));
  return names.every((name) => STREAM_FIELDS.some((field) => field === name))
    ? new Set(fields)
    : undefined;
}

/** Commits that a slow reader has not taken yet; past this many its stream ends. */
const WAITING_COMMITS_MAX = 10_000;

class Commits {
  private waiting: CommitNotice[] = [];
  private wake: (() => void) | undefined = undefined;
  private isClosed = false;
  isOverrun = false;

  close(): void {
    this.isClosed = true;
    this.waiting = [];
    this.wake?.();
  }

  add(notice: CommitNotice): void {
    if (this.waiting.length < WAITING_COMMITS_MAX) this.waiting.push(notice);
    else this.isOverrun = true;
    this.wake?.();
  }

  /** Undefined: nobody reads any more. */
  async next(): Promise<CommitNotice | undefined> {
    for (;;) {
      const notice = this.waiting.shift();
      if (notice || this.isClosed) return notice;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

/** Ends the stream. */
class StreamFault extends Error {
  readonly code: string;
  constructor(code: string, description: string) {
    super(description);
    this.code = code;
  }
}

const frame = (type: string, txn: Micros, event: Json): string =>
  `{"type":"${type}","txn":${txn},"event":${stringifyJson(event)}}\r\n`;

class Follower {
  private readonly call: Call;
  private readonly target: StreamTarget;
  /** The opening query, which gives the set again. */
  private readonly query: string;
  private readonly fields: ReadonlySet<StreamField>;
  private readonly start: Micros;
  private watched: ReadSet | undefined = undefined;

  constructor(
    call: Call,
    target: StreamTarget,
    query: string,
    fields: ReadonlySet<StreamField>,
    start: Micros,
  ) {
    this.call = call;
    this.target = target;
    this.query = query;
    this.fields = fields;
    this.start = start;
  }

  async *frames(commits: Commits): AsyncGenerator<string> {
    try {
      yield frame('start', this.start, this.start);
      await this.watch();
      for (;;) {
        const notice = await commits.next();
        if (!notice) return;
        if (commits.isOverrun)
          throw new StreamFault('too many requests', 'The stream was read too slowly.');
        if (notice.ts > this.start) yield* this.framesOf(notice);
      }
    } catch (reason) {
      if (!(reason instanceof StreamFault)) this.call.host.report?.(reason);
      const { code, message } = reason instanceof StreamFault ? reason : INTERNAL;
      const event = new Map([
        ['code', code],
        ['description', message],
      ]);
      yield frame('error', 0, event);
    }
  }

  private async *framesOf(notice: CommitNotice): AsyncGenerator<string> {
    if (this.watched && !touches(notice, this.watched)) return;
    const { ts } = notice;
    if (this.target.of === 'document') {
      const answer = await this.ask(versionsQuery(this.target.ref, ts));
      const event = answer && versionEvent(answer.body, ts);
      if (event) yield frame('version', ts, onlyFields(event, this.fields));
    } else {
      let after: Json | undefined = ts;
      while (after !== undefined) {
        const answer = await this.ask(entriesQuery(this.query, cursorText(after)));
        if (!answer) break;
        const { events, next } = entryEvents(answer.body, ts, this.target);
        for (const event of events) yield frame('set', ts, onlyFields(event, this.fields));
        after = next;
      }
    }
    await this.watch();
  }

  /** What the next commit must touch to be looked at: the facts behind the present, and behind the right to see it. */
  private async watch(): Promise<void> {
    const query =
      this.target.of === 'document' ? `{"exists":${this.target.ref}}` : `{"exists":${this.query}}`;
    this.watched = (await this.ask(query))?.readSet;
  }

  /** Undefined when this secret may not read it: the stream stays silent. */
  private async ask(query: string): Promise<QueryAnswer | undefined> {
    const { host, asked, secret } = this.call;
    const { apiVersion } = asked;
    const answer = await host.engine.query({
      secret,
      query,
      apiVersion,
      allows: 'read',
      placeName: PLACE,
    });
    if (answer.status === 401)
      throw new StreamFault('permission denied', 'The secret of the stream is no longer valid.');
    return answer.status < 300 ? answer : undefined;
  }
}

const INTERNAL = {
  code: 'internal server error',
  message: 'The stream failed by a fault of the database.',
};

/** A cursor as an expression: an integer, or an event whose objects are wrapped. */
function cursorText(cursor: Json): string {
  return cursor instanceof Map ? `{"object":${stringifyJson(cursor)}}` : stringifyJson(cursor);
}
