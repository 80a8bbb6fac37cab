/** A proxy between browsers and a hub. It forwards HTTP, and injects the faults that a test chooses. */
import {
  createServer,
  request as send,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** What the proxy does with a request. */
export type Fault =
  | 'none'
  /** The connection is closed before the hub has received anything. */
  | 'drop'
  /** The hub receives this many bytes of the body; then the connection is closed on both sides. */
  | { readonly cutRequestAt: number }
  /** The hub executes the request; the caller receives this many bytes of the response's body, then the connection is closed. */
  | { readonly cutAnswerAt: number }
  /** The hub executes the request; the caller's connection is closed in order, without a response. */
  | 'half-close'
  /** The hub receives the request twice, one directly after the other; the caller gets the second response. */
  | 'twice'
  | { readonly delayMs: number }
  /** A server in between responds instead of the hub. */
  | { readonly says: { readonly status: number; readonly type: string; readonly body: string } }
  /** The hub executes the request; the caller gets the response to the previous request of the same path. */
  | 'stale';

export interface Passed {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly atMs: number;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export class FaultyProxy {
  /** Requests that were received, without preflights. */
  readonly passed: Passed[] = [];
  /** Number of connections that were refused. */
  refused = 0;
  /** Chooses the fault for each request that is not a preflight. */
  judge: (passed: Passed) => Fault = () => 'none';
  /** Whether WebSockets are forwarded. Without them, devices push with requests, for which faults can be injected. */
  passesLines = false;
  /** Whether requests of pages of other origins are refused, as by a hub whose `--cors` does not include them. */
  refusesOrigins = false;
  /** Number of WebSockets that were forwarded. */
  lines = 0;
  private readonly target: URL;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly answers = new Map<string, Answer>();
  private isUp = true;

  private constructor(target: string) {
    this.target = new URL(target);
    this.server = createServer((request, response) => void this.serve(request, response));
    this.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) =>
      this.passLine(request, socket, head),
    );
    this.server.on('connection', (socket) => {
      if (!this.isUp) {
        this.refused += 1;
        socket.destroy();
        return;
      }
      this.sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
    });
  }

  static async start(target: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** `down`: open connections are cut, and new ones are refused. */
  set(how: 'up' | 'down'): void {
    this.isUp = how === 'up';
    if (!this.isUp) for (const socket of this.sockets) socket.destroy();
  }

  of(path: string): readonly Passed[] {
    return this.passed.filter((each) => each.path.startsWith(path));
  }

  /** Sends a recorded request again. */
  async replay({ method, path, headers, body }: Passed): Promise<Answer> {
    return this.ask({ method, path, headers, body });
  }

  async close(): Promise<void> {
    this.set('down');
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request).catch(() => undefined);
    if (!body) return;
    const { method = 'GET', url: path = '/', headers } = request;
    const passed: Passed = { method, path, headers, body, atMs: performance.now() };
    if (this.refusesOrigins) {
      response.writeHead(403).end();
      return;
    }
    const isPreflight = method === 'OPTIONS';
    if (!isPreflight) this.passed.push(passed);
    const fault = isPreflight ? 'none' : this.judge(passed);
    try {
      if (path.startsWith('/sync/events') && fault === 'none') this.pipe(passed, response);
      else await this.meet(fault, passed, response);
    } catch {
      response.destroy();
    }
  }

  private async meet(fault: Fault, passed: Passed, response: ServerResponse): Promise<void> {
    if (fault === 'drop') {
      response.destroy();
      return;
    }
    if (typeof fault === 'object' && 'cutRequestAt' in fault) {
      await this.askInPart(passed, fault.cutRequestAt);
      response.destroy();
      return;
    }
    if (typeof fault === 'object' && 'says' in fault) {
      const { status, type, body } = fault.says;
      const origin = passed.headers.origin ?? '*';
      response.writeHead(status, { 'content-type': type, 'access-control-allow-origin': origin });
      response.end(body);
      return;
    }
    if (typeof fault === 'object' && 'delayMs' in fault)
      await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
    if (fault === 'twice') await this.ask(passed);
    const before = this.answers.get(passed.path);
    const answer = await this.ask(passed);
    this.answers.set(passed.path, answer);
    if (fault === 'half-close') {
      response.socket?.end();
      return;
    }
    const { status, headers, body } = fault === 'stale' ? (before ?? answer) : answer;
    response.writeHead(status, { ...headers, 'content-length': body.length });
    if (typeof fault === 'object' && 'cutAnswerAt' in fault) {
      response.write(body.subarray(0, fault.cutAnswerAt), () => response.destroy());
      return;
    }
    response.end(body);
  }

  private ask(passed: Omit<Passed, 'atMs'>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asked = send(this.options(passed), (answer) => {
        bodyOf(answer).then((body) => {
          const { 'transfer-encoding': _, ...headers } = answer.headers;
          resolve({ status: answer.statusCode ?? 500, headers, body });
        }, reject);
      });
      asked.on('error', reject).end(passed.body);
    });
  }

  private askInPart(passed: Passed, bytes: number): Promise<void> {
    return new Promise((resolve) => {
      const asked = send(this.options(passed));
      asked.on('error', () => resolve()).on('close', () => resolve());
      asked.flushHeaders();
      asked.write(passed.body.subarray(0, bytes), () => asked.destroy());
      if (bytes === 0) asked.destroy();
    });
  }

  /** Forwards a WebSocket: after the upgrade request, bytes in both directions. */
  private passLine({ url, rawHeaders }: IncomingMessage, socket: Socket, head: Buffer): void {
    if (!this.passesLines || this.refusesOrigins) {
      socket.end('HTTP/1.1 501 Not Implemented\r\nconnection: close\r\n\r\n');
      return;
    }
    this.lines += 1;
    const { hostname, port } = this.target;
    const hub = connect(Number(port), hostname);
    const names = rawHeaders.flatMap((name, i) =>
      i % 2 === 0 ? [`${name}: ${rawHeaders[i + 1] ?? ''}`] : [],
    );
    hub.write(`GET ${url ?? '/'} HTTP/1.1\r\n${names.join('\r\n')}\r\n\r\n`);
    hub.write(head);
    hub.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => hub.destroy());
    hub.pipe(socket).pipe(hub);
  }

  /** Forwards an event stream until either side closes it. */
  private pipe(passed: Passed, response: ServerResponse): void {
    const asked = send(this.options(passed), (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    asked.on('error', () => response.destroy()).end();
    response.on('close', () => asked.destroy());
  }

  private options({ method, path, headers }: Omit<Passed, 'atMs'>) {
    const { hostname, port } = this.target;
    return { hostname, port, method, path, headers, agent: false } as const;
  }
}

async function bodyOf(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
