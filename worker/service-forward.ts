/** Hands a request of the service worker to a page that has the database open, and makes its answer a `Response`. */
import {
  SERVICE_PROTOCOL,
  type ServiceAnswer,
  type ServiceCall,
  type ServiceOffer,
  type ServiceRequest,
} from '../src/host/service.ts';

/** A page, as the service worker sees it. */
export interface Page {
  readonly id: string;
  postMessage(message: ServiceOffer, transfer: Transferable[]): void;
}

export interface ForwardOptions {
  readonly database: string | undefined;
  /** How long a page may take to accept. */
  readonly acceptMs: number;
  /** How long an accepted request may take to be answered, and each part of a streamed answer. */
  readonly answerMs: number;
}

/** `own`: the page that asks, tried first. `others`: looked up only when it does not accept. */
export async function forward(
  request: ServiceRequest,
  own: Page | undefined,
  others: () => Promise<readonly Page[]>,
  options: ForwardOptions,
): Promise<Response> {
  let line = own && (await firstToAccept([own], options));
  if (!line) {
    const rest = (await others()).filter(({ id }) => id !== own?.id);
    line = await firstToAccept(rest, options);
  }
  if (!line) {
    const text = 'No open page of this app has the database open: open the app and try again.';
    return failure(request, text);
  }
  return ask(line, request, options.answerMs);
}

/** A port to a page, and who hears what comes through it. */
interface Line {
  readonly port: MessagePort;
  hear: (answer: ServiceAnswer) => void;
}

const ignore = (): void => undefined;

function offerTo(page: Page, database: string | undefined): Line {
  const { port1: port, port2 } = new MessageChannel();
  const line: Line = { port, hear: ignore };
  port.addEventListener('message', ({ data }: MessageEvent<ServiceAnswer>) => line.hear(data));
  port.start();
  page.postMessage({ type: 'burrow-offer', protocol: SERVICE_PROTOCOL, database }, [port2]);
  return line;
}

const send = ({ port }: Line, call: ServiceCall): void => port.postMessage(call);

/** The line to the first page that accepts; the others are dismissed. */
async function firstToAccept(
  pages: readonly Page[],
  { database, acceptMs }: ForwardOptions,
): Promise<Line | undefined> {
  if (pages.length === 0) return undefined;
  const lines = pages.map((page) => offerTo(page, database));
  const chosen = await new Promise<Line | undefined>((resolve) => {
    const late = setTimeout(() => resolve(undefined), acceptMs);
    for (const line of lines) {
      line.hear = (answer) => {
        if (answer.type !== 'accept' || answer.protocol !== SERVICE_PROTOCOL) return;
        clearTimeout(late);
        resolve(line);
      };
    }
  });
  for (const line of lines) {
    line.hear = ignore;
    if (line === chosen) continue;
    send(line, { type: 'dismiss' });
    line.port.close();
  }
  return chosen;
}

function ask(line: Line, request: ServiceRequest, answerMs: number): Promise<Response> {
  return new Promise((resolve) => {
    const end = (response: Response): void => {
      clearTimeout(late);
      resolve(response);
    };
    const fail = (description: string): void => {
      line.hear = ignore;
      line.port.close();
      end(failure(request, description));
    };
    const late = setTimeout(
      () => fail('The page that took the request did not answer it in time.'),
      answerMs,
    );
    line.hear = (answer) => {
      if (answer.type === 'broken') return fail(answer.description);
      if (answer.type !== 'answer') return;
      const { status, headers, body } = answer;
      if (body !== undefined) line.port.close();
      end(new Response(bodyOf(line, body, answerMs), { status, headers }));
    };
    send(line, { type: 'request', request });
  });
}

/** An empty body is none: some statuses may not have one. */
function bodyOf(
  line: Line,
  body: string | undefined,
  partMs: number,
): string | ReadableStream<Uint8Array> | null {
  if (body === undefined) return pulled(line, partMs);
  return body === '' ? null : body;
}

/** A body whose parts are asked for one by one, so that a slow download holds one part. */
function pulled(line: Line, partMs: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> =>
    new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new TypeError('The page went away.')), partMs);
      line.hear = (answer) => {
        clearTimeout(late);
        if (answer.type !== 'part') {
          const text =
            answer.type === 'broken' ? answer.description : 'The page answered out of turn.';
          reject(new TypeError(text));
          return;
        }
        if (answer.part === undefined) controller.close();
        else
          controller.enqueue(
            typeof answer.part === 'string' ? encoder.encode(answer.part) : answer.part,
          );
        resolve();
      };
      send(line, { type: 'pull' });
    });
  const cancel = (): void => {
    send(line, { type: 'cancel' });
    line.port.close();
  };
  return new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 });
}

/** In the shape that callers of the path expect. */
function failure({ path }: ServiceRequest, description: string): Response {
  const isMessage = path.startsWith('/api/') || path.startsWith('/files/');
  const body = isMessage
    ? { message: description }
    : { errors: [{ code: 'time out', description }] };
  const headers = { 'content-type': 'application/json;charset=utf-8' };
  return new Response(JSON.stringify(body), { status: 503, headers });
}
