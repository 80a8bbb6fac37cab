/** The network of a device in a test: hubs in this process by their URLs, all others as usual, and a switch. */
import type { Network } from '../worker/browser/network.ts';
import { abortableFetch } from './abortable-fetch.ts';
import type { TestNetwork } from './test-kit.ts';

/** What answers at a URL. Aborted, it has nobody to answer. */
export type Answering = (path: string, init: RequestInit, signal: AbortSignal) => Promise<Answered>;

interface Answered {
  readonly response: Response;
  /** Its body goes on. */
  readonly isStream: boolean;
}

/** Servers of this process, by their origins. */
const servers = new Map<string, Answering>();

/** @returns how it ends: then nothing answers there */
export function serveAt(origin: string, answer: Answering): () => void {
  servers.set(origin, answer);
  return () => servers.set(origin, () => Promise.reject(unreachable()));
}

export class SwitchedNetwork implements TestNetwork {
  private isSwitchedOn = true;
  private readonly inFlight = new Set<AbortController>();
  private readonly listeners = new Set<(change: 'online' | 'offline') => void>();

  get isOnline(): boolean {
    return this.isSwitchedOn;
  }

  offline(): void {
    this.turn(false);
    for (const each of this.inFlight) each.abort();
    this.inFlight.clear();
  }

  online(): void {
    this.turn(true);
  }

  /** As one worker has it. @param ended its end: then it gets no events any more */
  until(ended: AbortSignal): Network {
    const { fetch, connect } = this;
    const onChange: Network['onChange'] = (listener) => {
      this.listeners.add(listener);
      ended.addEventListener('abort', () => this.listeners.delete(listener));
    };
    return { fetch, connect, onChange };
  }

  /** Hints come by events then. */
  private readonly connect = (): never => {
    throw new TypeError('No WebSockets lead to hubs of this process.');
  };

  private readonly fetch: typeof fetch = async (input, init = {}) => {
    const { origin, pathname, search } = new URL(input instanceof Request ? input.url : input);
    if (!this.isSwitchedOn) throw unreachable();
    const server = servers.get(origin);
    if (!server) return abortableFetch(input, init);
    const request = new AbortController();
    const abort = (): void => request.abort();
    if (init.signal?.aborted) abort();
    init.signal?.addEventListener('abort', abort, { once: true });
    this.inFlight.add(request);
    let mayEnd = true;
    try {
      const answering = server(pathname + search, init, request.signal);
      const { response, isStream } = await untilAborted(answering, request.signal);
      mayEnd = !isStream;
      return response;
    } finally {
      if (mayEnd) {
        this.inFlight.delete(request);
        init.signal?.removeEventListener('abort', abort);
      }
    }
  };

  private turn(isOn: boolean): void {
    if (this.isSwitchedOn === isOn) return;
    this.isSwitchedOn = isOn;
    for (const each of this.listeners) each(isOn ? 'online' : 'offline');
  }
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(unreachable());
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject);
  });
}

/** As `fetch` rejects. */
export const unreachable = (): TypeError => new TypeError('The network is off.');
