/**
 * `POST /stream`: the value of the query determines the target. For each later commit that may concern the target, the changes are queried
 * with the secret of the stream, so that nothing is emitted that the secret may not read. Spec: auth 5.
 */
import type { QueryAnswer } from '../engine/host.ts';
import { NO_METRICS } from '../engine/session.ts';
import { metricHeaders, txnHeader } from './answer-headers.ts';
import {
  afterAuthentication,
  answerHeaders,
  answerOf,
  runQuery,
  type ReceivedRequest,
} from './answer-query.ts';
import { answerText, type HttpResponse } from './message.ts';
import { Commits } from './stream-commits.ts';
import { STREAM_FIELDS, type StreamField } from './stream-events.ts';
import { Follower } from './stream-follow.ts';
import { refOf, streamTarget, unfitFor, type StreamTarget } from './stream-target.ts';

export async function answerStream(
  call: ReceivedRequest,
  parameters: URLSearchParams,
  query: string,
): Promise<HttpResponse> {
  const fields = readFields(parameters.get('fields'));
  if (!fields) return answerUrlFault(call, `fields must be some of ${STREAM_FIELDS.join(', ')}.`);
  const { host } = call;
  const { engine, onCommit = engine.onCommit.bind(engine) } = host;
  const commits = new Commits();
  // Subscribes before the query is executed, so that no commit after the query is missed.
  const stop = onCommit((notice) => commits.add(notice));
  let follow: Follower | undefined;
  try {
    const opening = await runQuery(call, { query, allows: 'read' });
    const target = opening.status < 300 ? streamTarget(opening.body) : undefined;
    const refused = opening.status < 300 ? await refusalOf(call, query, opening, target) : opening;
    if (!target || refused) return await answerOf(call, refused ?? opening);
    const headers = {
      ...answerHeaders(200, opening.txnTime, { ...opening.metrics, bytesOut: 0 }),
      'content-type': 'application/json;charset=utf-8',
      'x-fauna-stream-id': String(opening.txnTime),
    };
    const { txnTime: start, head = start } = opening;
    follow = new Follower(call, { target, fields, start, head });
    let isOpen = true;
    const close = (): void => {
      if (isOpen) stop();
      isOpen = false;
      commits.close();
    };
    return { status: 200, headers, body: closable(follow.frames(commits), close) };
  } finally {
    if (!follow) stop();
  }
}

/** `return()` of a generator that is waiting would wait, too, so `close` first ends what the generator waits for. */
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

/** 400 with an empty position, which is how the hosted service answered an invalid URL. */
export const answerUrlFault = (call: ReceivedRequest, description: string): Promise<HttpResponse> =>
  afterAuthentication(call, () => {
    const error = { position: [], code: 'invalid url parameter', description };
    const headers = { ...txnHeader(call.host.clock()), ...metricHeaders(NO_METRICS) };
    return answerText(400, headers, JSON.stringify({ errors: [error] }));
  });

/** Why the value of the query cannot be followed. Undefined if it can. */
async function refusalOf(
  { host, secret, options }: ReceivedRequest,
  text: string,
  opening: QueryAnswer,
  target: StreamTarget | undefined,
): Promise<QueryAnswer | undefined> {
  const ref = refOf(opening.body);
  const { apiVersion } = options;
  const ask = (query: string): Promise<QueryAnswer> =>
    host.engine.query({ secret, query, apiVersion, allows: 'read' });
  if (ref !== undefined) {
    const [fault] = (await ask(`{"singleton":${ref}}`)).faults ?? [];
    if (fault) return withError(opening, fault.code, fault.description);
  }
  // An object with the members of a version renders like a version, so the engine is asked whether the value is a document.
  const isFit =
    target &&
    (ref !== undefined ||
      target.of === 'set' ||
      (await ask(`{"is_doc":${text}}`)).body === '{"resource":true}');
  return isFit ? undefined : withError(opening, 'invalid argument', unfitFor(opening.body));
}

const withError = (opening: QueryAnswer, code: string, description: string): QueryAnswer => ({
  ...opening,
  status: 400,
  body: JSON.stringify({ errors: [{ position: [], code, description }] }),
});

function readFields(text: string | null): ReadonlySet<StreamField> | undefined {
  if (text === null) return new Set(['action', 'document']);
  const names = text.split(',').map((name) => name.trim());
  const fields = STREAM_FIELDS.filter((field) => names.includes(field));
  return names.every((name) => STREAM_FIELDS.some((field) => field === name))
    ? new Set(fields)
    : undefined;
}
