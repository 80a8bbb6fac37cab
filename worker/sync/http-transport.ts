/** The transport of a device: a WebSocket if one can be opened, otherwise JSON over HTTP, with hints as server-sent events. */
import {
  ForeignAnswer,
  OTHER_ANSWER,
  RetryLater,
  requestsBy,
  type HubAnswer,
  type ListenEvents,
  type Transport,
} from '../../src/sync/device/syncer/transport.ts';
import { tryJson } from '../../src/codec/plain-json.ts';
import { SYNC_LIMITS } from '../../src/limits.ts';
import { SHARE_MIN } from '../../src/sync/device/syncer/exchange-size.ts';
import { changeHint } from '../../src/sync/protocol/hints.ts';
import { syncRefusal } from '../../src/sync/protocol/refusals.ts';
import {
  ANSWERS,
  type AnswerOf,
  type RequestName,
  type RequestOf,
} from '../../src/sync/protocol/messages.ts';
import { SchemaMismatch, type Schema } from '../../src/sync/protocol/schema.ts';
import { abortWith } from '../../hosts/abort-with.ts';
import { foreign, noHub, TO_HUB_ALONE } from './hub-queries.ts';
import { HubSocket, type HubSocketHost } from './hub-socket.ts';
import { isEvents, readEvents, readText } from './server-events.ts';

export interface HttpTransportOptions {
  /** URL of the hub, without a slash at the end. */
  readonly url: string;
  /** Undefined while no user is logged in. */
  readonly token: () => string | undefined;
  /** Called when the hub has refused this token and the token has not been replaced in the meantime. */
  readonly onRefused?: (token: string | undefined) => void;
  readonly fetch: typeof fetch;
  /** How long to wait for the response to a short message, in ms, or for the next part of a long response. */
  readonly deadlineMs: number;
  /** Aborts all requests in progress. */
  readonly signal?: AbortSignal;
  /** Undefined where there are no WebSockets. */
  readonly lines?: HubSocketHost;
}

/** Status of an unknown path: the URL of the hub may be wrong. */
const NO_SUCH_PLACE = 404;

/** Length of a part of a response that is not a pull. */
const PART_CHARS = SYNC_LIMITS.pullBytes * SHARE_MIN;

export function createHttpTransport(options: HttpTransportOptions): Transport {
  const post = <N extends RequestName>(name: N, message: RequestOf<N>) =>
    presently(options, () => postTo(options, name, message));
  let line: HubSocket | undefined;
  return {
    ...requestsBy(post),
    async hello(message) {
      const exchange = await post('hello', message);
      // A proxy has returned the response to another request.
      if (exchange.ok && exchange.value.device !== message.device)
        throw new ForeignAnswer(`The response is for another device. ${OTHER_ANSWER}`);
      return exchange;
    },
    push: (message) =>
      presently(options, () => {
        // Closes a WebSocket that was opened with a former token: its refusals do not apply to the present token.
        if (line?.options.token !== options.token()) line?.end();
        return line?.push(message) ?? postTo(options, 'push', message);
      }),
    listen: (device, events) => {
      const stop = new AbortController();
      const listenByEvents = (): void =>
        void listen(options, device, events, stop.signal)
          // A broken stream is treated like one that ended: the syncer polls once and listens again.
          .catch(() => undefined)
          .finally(() => {
            if (!stop.signal.aborted) events.onEnd();
          });
      const opened = lineTo(options, device, events, (wasOpen) => {
        if (line === opened) line = undefined;
        if (stop.signal.aborted) return;
        if (wasOpen) events.onEnd();
        // A proxy lets no WebSocket through.
        else listenByEvents();
      });
      line = opened;
      if (!opened) listenByEvents();
      return () => {
        stop.abort();
        opened?.end();
      };
    },
  };
}

/**
 * Sends a request. A refusal applies to the token that was sent: if the token has been replaced in the meantime, the request is repeated.
 */
async function presently<T>(
  options: Pick<HttpTransportOptions, 'token' | 'onRefused'>,
  ask: () => Promise<HubAnswer<T>>,
): Promise<HubAnswer<T>> {
  const shown = options.token();
  const answer = await ask();
  if (answer.ok) return answer;
  if (options.token() !== shown) return presently(options, ask);
  options.onRefused?.(shown);
  return answer;
}

async function postTo<N extends RequestName>(
  options: HttpTransportOptions,
  name: N,
  message: RequestOf<N>,
): Promise<HubAnswer<AnswerOf<N>>> {
  const token = options.token();
  if (token === undefined) return NOBODY;
  const body = JSON.stringify(message);
  const ended = abortWith(options.signal);
  const endAfter = (ms: number) => setTimeout(() => ended.abort(), ms);
  // Extended by the time that sending the body takes.
  let late = endAfter(options.deadlineMs + Math.ceil(body.length / SYNC_LIMITS.bodyBytesPerMs));
  try {
    const answer = await options.fetch(`${options.url}/sync/${name}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
      signal: ended.signal,
      // `cache: 'no-store'` is not set: the browser would send a CORS preflight before each request.
      ...TO_HUB_ALONE,
    });
    if (!answer.ok) return await refusedBy(answer, options.url);
    // A single document may be longer than the pull has asked for. It must arrive even if that takes longer than the timeout.
    const part = 'maxBytes' in message ? message.maxBytes : PART_CHARS;
    let text = '';
    let end = part;
    if (answer.body)
      await readText(answer.body, (more) => {
        text += more;
        if (text.length < end) return;
        end = text.length + part;
        clearTimeout(late);
        late = endAfter(options.deadlineMs);
      });
    return { ok: true, value: readAnswer(text, ANSWERS[name], name, answer) };
  } finally {
    clearTimeout(late);
    ended.abort();
  }
}

/** @throws ForeignAnswer if the text is not such an answer: then it is from another server */
export function readAnswer<T>(text: string, schema: Schema<T>, name: string, from: Response): T {
  const json = tryJson(text);
  if (json === undefined) throw new ForeignAnswer(foreign(from).message);
  try {
    return schema(json, name);
  } catch (reason) {
    throw reason instanceof SchemaMismatch
      ? new ForeignAnswer(`${foreign(from).message} ${reason.message}`)
      : reason;
  }
}

const NOBODY: HubAnswer<never> = {
  ok: false,
  refusal: { code: 'needs_login', description: 'No user is logged in.' },
};

/**
 * @param url URL of the hub; set for paths where a 404 may mean that there is no hub at the URL
 * @throws when the response is not from a hub: then it is unknown whether the hub has received the request
 */
export async function refusedBy(answer: Response, url?: string): Promise<HubAnswer<never>> {
  const retryAfterMs = retryAfterIn(answer.headers.get('retry-after'), Date.now());
  const refusal = await answer
    .json()
    .then((json: unknown) => syncRefusal(json, 'refusal'))
    .catch(() => undefined);
  if (refusal) return { ok: false, refusal, retryAfterMs };
  // Also happens while a hub is replaced: the proxy in front of it may respond with 404 in the meantime.
  const isNowhere = answer.status === NO_SUCH_PLACE && url !== undefined;
  const { message } = isNowhere ? noHub(url) : foreign(answer);
  throw retryAfterMs === undefined
    ? new ForeignAnswer(message)
    : new RetryLater(message, retryAfterMs);
}

/** `Retry-After` in ms, from seconds or a date. Undefined when it is neither. */
export function retryAfterIn(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // HTTP dates begin with the day of the week. `Date` would parse other texts too.
  const at = /^[a-z]{3,9},? /i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Undefined where there are no WebSockets. */
function lineTo(
  { url, lines, token, deadlineMs }: HttpTransportOptions,
  device: string,
  events: ListenEvents,
  onEnd: (wasOpen: boolean) => void,
): HubSocket | undefined {
  if (!lines) return undefined;
  try {
    return new HubSocket({
      host: lines,
      url: `${url.replace(/^http/, 'ws')}/sync/line`,
      token: token() ?? '',
      device,
      deadlineMs,
      events,
      onEnd,
    });
  } catch {
    // The page's Content-Security-Policy forbids the connection.
    return undefined;
  }
}

async function listen(
  { url, token, fetch }: HttpTransportOptions,
  device: string,
  { onHint, onActivity }: ListenEvents,
  signal: AbortSignal,
): Promise<void> {
  const answer = await fetch(`${url}/sync/events?device=${device}`, {
    headers: { authorization: `Bearer ${token() ?? ''}`, accept: 'text/event-stream' },
    signal,
    ...TO_HUB_ALONE,
  });
  if (!answer.ok || !answer.body || !isEvents(answer)) return;
  await readEvents(
    answer.body,
    ({ event, data }) => {
      if (event === undefined || event === 'poke') onHint(changeHint(JSON.parse(data), 'poke'));
    },
    onActivity,
  );
}
