/** A device's way to its hub: JSON over HTTP, hints as server-sent events. */
import { createParser } from 'eventsource-parser';
import type { Exchange, Transport } from '../../src/sync/device/transport.ts';
import type { Poke, SyncRefusal, SyncRefusalCode } from '../../src/sync/protocol.ts';

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
}

/** Who answers, but knows nothing of sync: an older hub. Whatever else is not in words of ours may have been said by anybody on the way. */
const NO_SUCH_PLACE = 404;

export function createHttpTransport(options: HttpTransportOptions): Transport {
  const post = async <T>(path: string, message: unknown): Promise<Exchange<T>> => {
    const token = options.token();
    if (token === undefined) return NOBODY;
    const stop = new AbortController();
    const end = (): void => stop.abort();
    const late = setTimeout(end, options.deadlineMs);
    options.signal?.addEventListener('abort', end);
    try {
      const answer = await options.fetch(`${options.url}/sync/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(message),
        signal: stop.signal,
        // With `cache: 'no-store'` each exchange would ask anew whether it may be made.
        credentials: 'omit',
      });
      if (answer.ok) return { ok: true, value: (await answer.json()) as T };
      return await refusedBy(answer);
    } finally {
      clearTimeout(late);
      options.signal?.removeEventListener('abort', end);
    }
  };
  return {
    hello: (message) => post('hello', message),
    push: (message) => post('push', message),
    pull: (message) => post('pull', message),
    check: (message) => post('check', message),
    listen: (device, events) => {
      const stop = new AbortController();
      void listen(options, device, events.onPoke, stop.signal)
        // A stream that broke is one that ended: the syncer looks by itself, and listens again.
        .catch(() => undefined)
        .finally(() => {
          if (!stop.signal.aborted) events.onEnd();
        });
      return () => stop.abort();
    },
  };
}

const NOBODY: Exchange<never> = {
  ok: false,
  refusal: { code: 'needs_login', description: 'Nobody is logged in.' },
};

/** @throws when the answer is no word of the hub: then nothing is known */
async function refusedBy(answer: Response): Promise<Exchange<never>> {
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
  const retry = Number.isFinite(seconds) ? { retryAfterMs: seconds * 1000 } : {};
  const refusal = await answer.json().then(refusalIn, () => undefined);
  if (refusal) return { ok: false, refusal, ...retry };
  const description = `The hub answered with status ${answer.status}.`;
  if (answer.status !== NO_SUCH_PLACE) throw new Error(description);
  return { ok: false, refusal: { code: 'upgrade_needed', description }, ...retry };
}

function refusalIn(json: unknown): SyncRefusal | undefined {
  const { code, description } = (json ?? {}) as Partial<Record<string, unknown>>;
  return typeof code === 'string' && typeof description === 'string'
    ? { code: code as SyncRefusalCode, description }
    : undefined;
}

async function listen(
  { url, token, fetch }: HttpTransportOptions,
  device: string,
  onPoke: (poke: Poke) => void,
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
      if (event === undefined || event === 'poke') onPoke(JSON.parse(data) as Poke);
    },
  });
  const decoder = new TextDecoder();
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
  }
}
