/** A device's way to its hub: a line where there can be one, else JSON over HTTP and hints as server-sent events. */
import { createParser } from 'eventsource-parser';
import {
  RetryLater,
  requestsBy,
  type HubAnswer,
  type ListenEvents,
  type Transport,
} from '../../src/sync/device/syncer/transport.ts';
import { changeHint } from '../../src/sync/protocol/hints.ts';
import { syncRefusal } from '../../src/sync/protocol/refusals.ts';
import {
  ANSWERS,
  type AnswerOf,
  type RequestName,
  type RequestOf,
} from '../../src/sync/protocol/messages.ts';
import { HubLine, type LineHost } from './hub-line.ts';

export interface HttpTransportOptions {
  /** Of the hub, without a slash at the end. */
  readonly url: string;
  /** Undefined: nobody is logged in. */
  readonly token: () => string | undefined;
  readonly fetch: typeof fetch;
  /** How long an answer may take, ms. */
  readonly deadlineMs: number;
  /** Gives up all that is under way. */
  readonly signal?: AbortSignal;
  /** Left out where there are no lines. */
  readonly lines?: LineHost;
}

/** Who answers, but knows nothing of sync: an older hub. Whatever else is not in words of ours may have been said by anybody on the way. */
const NO_SUCH_PLACE = 404;

export function createHttpTransport(options: HttpTransportOptions): Transport {
  const post = async <N extends RequestName>(
    name: N,
    message: RequestOf<N>,
  ): Promise<HubAnswer<AnswerOf<N>>> => {
    const token = options.token();
    if (token === undefined) return NOBODY;
    const stop = new AbortController();
    const end = (): void => stop.abort();
    const late = setTimeout(end, options.deadlineMs);
    options.signal?.addEventListener('abort', end);
    try {
      const answer = await options.fetch(`${options.url}/sync/${name}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(message),
        signal: stop.signal,
        // With `cache: 'no-store'` each exchange would ask anew whether it may be made.
        credentials: 'omit',
      });
      if (answer.ok) return { ok: true, value: ANSWERS[name](await answer.json(), name) };
      return await refusedBy(answer);
    } finally {
      clearTimeout(late);
      options.signal?.removeEventListener('abort', end);
    }
  };
  let line: HubLine | undefined;
  return {
    ...requestsBy(post),
    async hello(message) {
      const exchange = await post('hello', message);
      // Somebody on the way has taken one for another.
      if (exchange.ok && exchange.value.device !== message.device)
        throw new Error('The response is for another device.');
      return exchange;
    },
    push: (message) => line?.push(message) ?? post('push', message),
    listen: (device, events) => {
      const stop = new AbortController();
      const listenByEvents = (): void =>
        void listen(options, device, events, stop.signal)
          // A stream that broke is one that ended: the syncer looks by itself, and listens again.
          .catch(() => undefined)
          .finally(() => {
            if (!stop.signal.aborted) events.onEnd();
          });
      const opened = lineTo(options, device, events, (wasOpen) => {
        if (line === opened) line = undefined;
        if (stop.signal.aborted) return;
        if (wasOpen) events.onEnd();
        // Somebody on the way lets no WebSocket through.
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

const NOBODY: HubAnswer<never> = {
  ok: false,
  refusal: { code: 'needs_login', description: 'No user is logged in.' },
};

/** @throws when the answer is no word of the hub: then nothing is known */
async function refusedBy(answer: Response): Promise<HubAnswer<never>> {
  const retryAfterMs = retryAfterIn(answer.headers.get('retry-after'), Date.now());
  const retry = retryAfterMs === undefined ? {} : { retryAfterMs };
  const refusal = await answer
    .json()
    .then((json: unknown) => syncRefusal(json, 'refusal'))
    .catch(() => undefined);
  if (refusal) return { ok: false, refusal, ...retry };
  const description = `The hub responded with status ${answer.status}.`;
  if (answer.status !== NO_SUCH_PLACE)
    throw retryAfterMs === undefined
      ? new Error(description)
      : new RetryLater(description, retryAfterMs);
  return { ok: false, refusal: { code: 'upgrade_needed', description }, ...retry };
}

/** ms, of seconds or of a date. Undefined: it says nothing that can be told. */
export function retryAfterIn(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Dates of HTTP name the day of the week; what else `Date` makes something of is none.
  const at = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Undefined: there are no lines here. */
function lineTo(
  { url, lines, token, deadlineMs }: HttpTransportOptions,
  device: string,
  events: ListenEvents,
  onEnd: (wasOpen: boolean) => void,
): HubLine | undefined {
  if (!lines) return undefined;
  try {
    return new HubLine({
      host: lines,
      url: `${url.replace(/^http/, 'ws')}/sync/line`,
      token: token() ?? '',
      device,
      deadlineMs,
      events,
      onEnd,
    });
  } catch {
    // A policy of the page forbids it.
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
    credentials: 'omit',
  });
  if (!answer.ok || !answer.body) return;
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (event === undefined || event === 'poke') onHint(changeHint(JSON.parse(data), 'poke'));
    },
  });
  const decoder = new TextDecoder();
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onActivity();
    parser.feed(decoder.decode(value, { stream: true }));
  }
}
