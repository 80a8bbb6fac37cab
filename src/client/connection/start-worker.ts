import { deadline } from '../../host/deadline.ts';
import { HELLO, PROTOCOL, type Ready } from '../../host/open.ts';
import { refusalError, Unsupported, type QueryError } from '../errors.ts';
import { startDefaultWorker } from './default-worker.ts';

/** How long a worker may take to load before it counts as lost, ms. */
const READY_MS = 20_000;

const CHECK =
  '. Check the network, file, type and Content-Security-Policy (worker-src, trusted-types burrow), or pass the option `worker`.';
/** The remedy for a page with an opaque origin, which may use neither workers nor storage. */
const NO_ORIGIN =
  '. This page has no origin: a frame with `sandbox` needs `allow-same-origin`, and a file must come from a server.';

export interface StartOptions {
  readonly readyMs?: number;
  /** Aborts the start, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a worker and waits until it has loaded and has answered with the same version of the protocol.
 * @throws Unsupported where there are no workers; UnavailableError when it fails to load, throws, or does not answer in time
 */
export async function startWorker(
  start: () => Worker = startDefaultWorker,
  { readyMs = READY_MS, signal }: StartOptions = {},
): Promise<Worker> {
  if (start === startDefaultWorker && typeof Worker === 'undefined') {
    throw new Unsupported(
      'A database can only be opened in a page, not in a service worker. On a server, use burrowdb/node or burrowdb/remote.',
    );
  }
  const worker = construct(start);
  // Makes the browser open its storage for this origin while the worker loads.
  globalThis.indexedDB?.databases?.().catch(() => undefined);
  return new Promise((resolve, reject) => {
    const settled = new AbortController();
    /** Without a reason, the worker has answered. */
    const settle = (reason?: Error): void => {
      clearInterval(timer);
      settled.abort();
      if (!reason) return resolve(worker);
      worker.terminate();
      reject(reason);
    };
    const onMessage = ({ data }: MessageEvent<Partial<Ready> | null | undefined>): void => {
      if (data?.type !== 'burrow-ready') return;
      settle(
        data.protocol === PROTOCOL
          ? undefined
          : notStarted(
              `Page and worker are different builds of Burrow (protocols ${PROTOCOL} and ${data.protocol}). Reload the page; if that does not help, the server serves an old worker file.`,
            ),
      );
    };
    const onError = (event: Event & Partial<ErrorEvent>): void => {
      event.preventDefault();
      const message = event.message ? `: ${event.message}` : '';
      settle(
        notStarted(
          // For a worker of the app, the source of its `start` function is the only hint at the worker's URL.
          `The database worker failed to load${message}, from ${String('url' in worker ? worker.url : start)}${CHECK}`,
          event,
        ),
      );
    };
    const timer = deadline(readyMs, () =>
      settle(notStarted(`The database worker did not respond within ${readyMs / 1000} s${CHECK}`)),
    );
    worker.addEventListener('message', onMessage, settled);
    worker.addEventListener('error', onError, settled);
    signal?.addEventListener('abort', () => settle(signal.reason as Error), settled);
    worker.postMessage(HELLO);
  });
}

function construct(start: () => Worker): Worker {
  try {
    const worker = start() as Worker | undefined;
    // Not `instanceof Worker`: in a test environment, the class may be another.
    if (worker?.postMessage) return worker;
    throw new TypeError('the option `worker` returned none');
  } catch (cause) {
    const remedy = globalThis.origin === 'null' ? NO_ORIGIN : CHECK;
    throw notStarted(
      `The database worker could not be started: ${messageOf(cause).replace(/\.$/, '')}${remedy}`,
      cause,
    );
  }
}

const notStarted = (description: string, cause?: unknown): QueryError =>
  refusalError('worker_not_started', description, { cause });

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
