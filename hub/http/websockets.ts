/** Lines: WebSockets. What comes over one counts as requests do, and one that takes too much or too long is let go. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import { SYNC_LIMITS } from '../../src/limits.ts';
import type { HubLimits } from '../settings/settings.ts';
import {
  credentialOf,
  tooMany,
  type Admission,
  type Credential,
  type Refused,
} from '../admission/admission.ts';
import type { Line, LineMessage } from './route.ts';
import { Gone } from './read-body.ts';

export interface LinesOptions {
  readonly admission: Admission;
  readonly limits: Pick<HubLimits, 'slowReaderMs' | 'headerMs' | 'streamsPerCredential'>;
  /** Aborted when the hub is being stopped. */
  readonly draining: AbortSignal;
}

/** So many messages may wait for the one before them to be answered. */
const WAITING_MAX = 16;

/** Why a line is closed, in the numbers of RFC 6455. */
const NORMAL = 1000;
const GOING_AWAY = 1001;
const TEXT_ONLY = 1003;
const NOT_ALLOWED = 1008;

export class Lines {
  private readonly options: LinesOptions;
  private readonly server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Deflating costs memory for each line, and what is said is little.
    perMessageDeflate: false,
    maxPayload: SYNC_LIMITS.lineBytes,
  });

  constructor(options: LinesOptions) {
    this.options = options;
  }

  /** @throws Gone when the caller speaks no WebSocket: it was told so */
  open(raw: IncomingMessage, socket: Socket, head: Buffer, address: string): Promise<Line> {
    return new Promise((resolve, reject) => {
      const leave = (): void => reject(new Gone('The connection did not become a line.'));
      socket.once('close', leave);
      this.server.handleUpgrade(raw, socket, head, (opened) => {
        socket.off('close', leave);
        resolve(new SocketLine(opened, address, this.options));
      });
    });
  }
}

class SocketLine implements Line {
  private readonly socket: WebSocket;
  private readonly address: string;
  private readonly options: LinesOptions;
  private readonly gone = new AbortController();
  private readonly arrived: string[] = [];
  private credential: Credential;
  private endStream: (() => void) | undefined = undefined;
  private wake: (() => void) | undefined = undefined;
  /** Probes since the last answer. */
  private unanswered = 0;

  constructor(socket: WebSocket, address: string, options: LinesOptions) {
    this.socket = socket;
    this.address = address;
    this.options = options;
    this.credential = credentialOf(undefined, address);
    const { draining, limits } = options;
    const drain = (): void => this.leave();
    const late = setTimeout(() => this.end(NOT_ALLOWED), limits.headerMs);
    socket.on('message', (data, isBinary) => {
      clearTimeout(late);
      this.take(data, isBinary);
    });
    socket.on('pong', () => {
      this.unanswered = 0;
    });
    // A broken line closes; what else it says of that is nobody's concern.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(late);
      draining.removeEventListener('abort', drain);
      this.leave();
    });
    draining.addEventListener('abort', drain, { once: true });
    if (draining.aborted) drain();
  }

  get signal(): AbortSignal {
    return this.gone.signal;
  }

  async next(): Promise<LineMessage | undefined> {
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
      const late = setTimeout(() => socket.terminate(), this.options.limits.slowReaderMs);
      socket.send(text, () => {
        clearTimeout(late);
        resolve();
      });
    });
  }

  claim(secret: string): Refused | undefined {
    this.credential = credentialOf(`Bearer ${secret}`, this.address);
    this.endStream = this.options.admission.beginStream(this.credential);
    if (this.endStream) return undefined;
    const { streamsPerCredential: max } = this.options.limits;
    return tooMany(`More than ${max} streams of one credential, or too many of all.`, 1);
  }

  /** A process that stood still has not read the answer to the last one yet: one more is sent before the line is given up. */
  probe(): void {
    if (this.unanswered === 2) this.socket.terminate();
    this.unanswered += 1;
    this.socket.ping();
  }

  close(): void {
    this.end(this.options.draining.aborted ? GOING_AWAY : NORMAL);
  }

  private admitted(text: string): LineMessage {
    const { admission } = this.options;
    const refused = admission.refusalOf(this.address, this.credential);
    const end = refused ? () => undefined : admission.begin(this.credential);
    return { text, refused, end };
  }

  private take(data: RawData, isBinary: boolean): void {
    if (isBinary) return this.end(TEXT_ONLY);
    if (this.arrived.length >= WAITING_MAX) return this.end(NOT_ALLOWED);
    this.arrived.push((data as Buffer).toString());
    this.wake?.();
  }

  private end(code: number): void {
    this.leave();
    if (this.socket.readyState !== this.socket.OPEN) return;
    this.socket.close(code);
  }

  private leave(): void {
    this.endStream?.();
    this.endStream = undefined;
    this.gone.abort();
    this.wake?.();
  }
}
