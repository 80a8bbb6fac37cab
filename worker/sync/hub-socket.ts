/** A WebSocket to the hub, for pushes, their responses, and hints. An HTTP request costs a device several times as much. */
import type { HubAnswer, ListenEvents } from '../../src/sync/device/syncer/transport.ts';
import { SYNC_LIMITS } from '../../src/limits.ts';
import type { DeviceId } from '../../src/sync/protocol/identifiers.ts';
import {
  socketReply,
  type SocketRequest,
  type SocketReply,
} from '../../src/sync/protocol/hints.ts';
import type { Push, Pushed } from '../../src/sync/protocol/messages.ts';

/** The part of `WebSocket` that is used. */
export type LineSocket = Pick<WebSocket, 'addEventListener' | 'send' | 'close'>;

export interface HubSocketHost {
  readonly connect: (url: string) => LineSocket;
  /** Dispatches `offline` when the device has lost its network, which a socket notices late. */
  readonly offline: EventTarget;
}

export interface HubLineOptions {
  readonly host: HubSocketHost;
  readonly url: string;
  readonly token: string;
  readonly device: DeviceId;
  /** How long to wait for a response, in ms. */
  readonly deadlineMs: number;
  readonly events: Pick<ListenEvents, 'onHint' | 'onActivity'>;
  /** @param wasOpen false when the connection was never open */
  readonly onEnd: (wasOpen: boolean) => void;
}

/** How long opening may take, in ms. After that, falling back to HTTP is faster. */
const OPENING_MS = 5000;

interface Call {
  readonly resolve: (exchange: HubAnswer<Pushed>) => void;
  readonly reject: (reason: Error) => void;
  readonly late: ReturnType<typeof setTimeout>;
}

export class HubSocket {
  readonly options: HubLineOptions;
  private readonly socket: LineSocket;
  private readonly calls = new Map<number, Call>();
  private readonly late: ReturnType<typeof setTimeout>;
  private readonly over = new AbortController();
  private state: 'opening' | 'open' | 'over' = 'opening';
  private last = 0;

  /** @throws as `connect` */
  constructor(options: HubLineOptions) {
    this.options = options;
    const { host, url, token, device } = options;
    this.socket = host.connect(url);
    this.late = setTimeout(() => this.end(), OPENING_MS);
    const { signal } = this.over;
    const { socket } = this;
    host.offline.addEventListener('offline', () => this.end(), { signal });
    socket.addEventListener('open', () => this.say({ open: { token, device } }), { signal });
    socket.addEventListener('message', ({ data }) => this.onMessage(data), { signal });
    socket.addEventListener('close', () => this.end(), { signal });
  }

  /** Undefined when the WebSocket is not open, or the message is too large for it. Rejects when there was no response. */
  push(message: Push): Promise<HubAnswer<Pushed>> | undefined {
    if (this.state !== 'open') return undefined;
    const n = ++this.last;
    const text = JSON.stringify({ n, push: message } satisfies SocketRequest);
    // A UTF-16 code unit takes at most three bytes of UTF-8.
    if (text.length * 3 > SYNC_LIMITS.lineBytes) return undefined;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => this.end(), this.options.deadlineMs);
      this.calls.set(n, { resolve, reject, late });
      this.socket.send(text);
    });
  }

  /** Closes the socket and rejects the pushes that wait for a response. */
  end(): void {
    if (this.state === 'over') return;
    const wasOpen = this.state === 'open';
    this.state = 'over';
    clearTimeout(this.late);
    this.over.abort();
    this.socket.close();
    for (const { reject, late } of this.calls.values()) {
      clearTimeout(late);
      reject(new TypeError('The WebSocket to the hub was closed.'));
    }
    this.calls.clear();
    this.options.onEnd(wasOpen);
  }

  private say(call: SocketRequest): void {
    this.socket.send(JSON.stringify(call));
  }

  private onMessage(data: unknown): void {
    const reply = replyIn(data);
    const { events } = this.options;
    if (!reply) this.end();
    else if ('poke' in reply) events.onHint(reply.poke);
    else if ('beat' in reply) events.onActivity();
    else if ('opened' in reply) {
      clearTimeout(this.late);
      this.state = 'open';
      events.onActivity();
    } else if ('pushed' in reply) this.answer(reply.n, { ok: true, value: reply.pushed });
    else this.refuse(reply);
  }

  private refuse(reply: Extract<SocketReply, { readonly refused: unknown }>): void {
    const { n, refused: refusal, retryAfterSeconds } = reply;
    // The hub has refused the connection. The next HTTP request gets the reason.
    if (n === undefined) {
      this.state = 'open';
      this.end();
      return;
    }
    const retryAfterMs = retryAfterSeconds && retryAfterSeconds * 1000;
    this.answer(n, { ok: false, refusal, retryAfterMs });
  }

  private answer(n: number, exchange: HubAnswer<Pushed>): void {
    const call = this.calls.get(n);
    if (!call) return;
    this.calls.delete(n);
    clearTimeout(call.late);
    call.resolve(exchange);
  }
}

/** Undefined when the text is not a message of our protocol. */
function replyIn(data: unknown): SocketReply | undefined {
  try {
    return socketReply(JSON.parse(String(data)), 'reply');
  } catch {
    return undefined;
  }
}
