/** The network of a device in a test: reaches hubs in this process by their URLs, and other servers by `fetch`. It can be switched off. */
import type { Network } from '../worker/browser/network.ts';
import { abortableFetch } from './abortable-fetch.ts';
import type { TestNetwork } from './test-kit.ts';

/** Answers requests to a server in this process. When the signal is aborted, nobody waits for the response. */
export type Answering = (path: string, init: RequestInit, signal: AbortSignal) => Promise<Answered>;

interface Answered {
  readonly response: Response;
  /** The body is a stream that may continue. */
  readonly isStream: boolean;
}

/** The servers in this process, by origin. */
const servers = new Map<string, Answering>();

/** @returns a function that ends the server; later requests to it fail */
export function serveAt(origin: string, answer: Answering): () => void {
  servers.set(origin, answer);
  return () => servers.set(origin, () => Promise.reject(unreachable()));
}

export class SwitchedNetwork implements TestNetwork {
  private isSwitchedOn = true;
  /** Requests without a response, and streams. */
  readonly inFlight = new Set<AbortController>();
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

  /** The network for one worker. @param ended aborted when the worker ends: then it receives no more events */
  until(ended: AbortSignal): Network {
    const { fetch, connect } = this;
    const onChange: Network['onChange'] = (listener) => {
      this.listeners.add(listener);
      ended.addEventListener('abort', () => this.listeners.delete(listener));
    };
    return { fetch, connect, onChange };
  }

  /** Without WebSockets, hints arrive as server-sent events. */
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
    request.signal.addEventListener('abort', () => this.inFlight.delete(request));
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

/** The error with which `fetch` rejects when there is no network. */
export const unreachable = (): TypeError => new TypeError('The network is off.');
