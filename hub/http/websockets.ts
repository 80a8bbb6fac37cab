/** WebSocket sessions. Each message counts as a request. A client that sends too much or reads too slowly is disconnected. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { SYNC_LIMITS } from '../../src/limits.ts';
import { credentialOf, type AdmissionRefusal, type Credential } from '../admission/admission.ts';
import { ClientGone } from './read-body.ts';
import type { SessionMessage, WebSocketSession } from './route.ts';
import type { ServerParts } from './server-options.ts';

/** How many messages of a session may wait until earlier ones are answered. */
const WAITING_MAX = 16;

/** Close codes of RFC 6455. */
const NORMAL = 1000;
const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;
const POLICY_VIOLATION = 1008;

const UNANSWERED_PINGS_MAX = 2;

/**
 * Limits for the fragments and chunks of one message, because each costs memory in addition to its bytes. Devices send each
 * message as one frame.
 */
const FRAGMENTS_MAX = 64;
const CHUNKS_MAX = 4096;

/**
 * Bytes that may arrive without completing a message or answering a ping. An incomplete message keeps every chunk it arrived in
 * in memory.
 */
const WITHOUT_MESSAGE_MAX = 4 * SYNC_LIMITS.lineBytes;

export class WebSockets {
  private readonly parts: ServerParts;
  private readonly server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Compression costs memory per connection, and messages are small.
    perMessageDeflate: false,
    maxPayload: SYNC_LIMITS.lineBytes,
    maxFragments: FRAGMENTS_MAX,
    maxBufferedChunks: CHUNKS_MAX,
    // Handles one message, ping or pong of a connection per turn of the event loop: a single chunk may contain ten thousand.
    allowSynchronousEvents: false,
  });

  constructor(parts: ServerParts) {
    this.parts = parts;
  }

  /** @throws ClientGone when the handshake fails; the client has then been told */
  open(
    raw: IncomingMessage,
    socket: Socket,
    head: Buffer,
    address: string,
  ): Promise<WebSocketSession> {
    return new Promise((resolve, reject) => {
      const fail = (): void => reject(new ClientGone('The WebSocket handshake failed.'));
      socket.once('close', fail);
      this.server.handleUpgrade(raw, socket, head, (opened) => {
        socket.off('close', fail);
        const session = new Session(opened, address, this.parts);
        socket.on('data', ({ length }: Buffer) => session.countBytes(length));
        resolve(session);
      });
    });
  }
}

class Session implements WebSocketSession {
  private readonly socket: WebSocket;
  private readonly address: string;
  private readonly parts: ServerParts;
  private readonly disconnected = new AbortController();
  private readonly arrived: string[] = [];
  private credential: Credential;
  private endStream: (() => void) | undefined = undefined;
  private wake: (() => void) | undefined = undefined;
  private unansweredPings = 0;
  private bytesWithoutMessage = 0;

  constructor(socket: WebSocket, address: string, parts: ServerParts) {
    this.socket = socket;
    this.address = address;
    this.parts = parts;
    this.credential = credentialOf(undefined, address);
    const { draining, settings } = parts;
    const onDrain = (): void => this.finish();
    const late = setTimeout(() => this.closeWith(POLICY_VIOLATION), settings.headerMs);
    socket.on('message', (data, isBinary) => {
      clearTimeout(late);
      this.bytesWithoutMessage = 0;
      this.receive(data, isBinary);
    });
    socket.on('pong', () => {
      if (this.unansweredPings > 0) this.bytesWithoutMessage = 0;
      this.unansweredPings = 0;
    });
    // Ignored: a connection that breaks also emits `close`.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(late);
      draining.removeEventListener('abort', onDrain);
      this.finish();
    });
    draining.addEventListener('abort', onDrain, { once: true });
    if (draining.aborted) onDrain();
  }

  get signal(): AbortSignal {
    return this.disconnected.signal;
  }

  async next(): Promise<SessionMessage | undefined> {
    for (;;) {
      if (this.signal.aborted) return undefined;
      const text = this.arrived.shift();
      if (text !== undefined) return this.admitted(text);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  send(text: string): Promise<void> {
    const { socket } = this;
    return new Promise((resolve) => {
      const late = setTimeout(() => socket.terminate(), this.parts.settings.slowReaderMs);
      socket.send(text, () => {
        clearTimeout(late);
        resolve();
      });
    });
  }

  countFor(secret: string): AdmissionRefusal | undefined {
    this.credential = credentialOf(`Bearer ${secret}`, this.address);
    const end = this.parts.admission.beginStream(this.credential);
    if (typeof end !== 'function') return end;
    this.endStream = end;
    return undefined;
  }

  /**
   * Disconnects only after several unanswered pings: after this process was blocked, the pong to the last ping may have arrived
   * but not been read.
   */
  ping(): void {
    if (this.unansweredPings === UNANSWERED_PINGS_MAX) this.socket.terminate();
    this.unansweredPings += 1;
    this.socket.ping();
  }

  countBytes(bytes: number): void {
    this.bytesWithoutMessage += bytes;
    if (this.bytesWithoutMessage > WITHOUT_MESSAGE_MAX) this.socket.terminate();
  }

  close(): void {
    this.closeWith(this.parts.draining.aborted ? GOING_AWAY : NORMAL);
  }

  private async admitted(text: string): Promise<SessionMessage> {
    const { admission } = this.parts;
    const begun =
      admission.refusalOf(this.address, this.credential) ??
      (await admission.beginRequest(this.credential));
    return typeof begun === 'function'
      ? { text, refused: undefined, end: begun }
      : { text, refused: begun, end: () => undefined };
  }

  private receive(data: RawData, isBinary: boolean): void {
    if (isBinary) return this.closeWith(UNSUPPORTED_DATA);
    if (this.arrived.length >= WAITING_MAX) return this.closeWith(POLICY_VIOLATION);
    this.arrived.push((data as Buffer).toString());
    this.wake?.();
  }

  private closeWith(code: number): void {
    this.finish();
    if (this.socket.readyState === this.socket.OPEN) this.socket.close(code);
  }

  private finish(): void {
    this.endStream?.();
    this.endStream = undefined;
    this.disconnected.abort();
    this.wake?.();
  }
}
