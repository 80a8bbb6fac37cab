/** Forwards a request of the service worker to a page that has the database open, and turns the answer into a `Response`. */
import {
  SERVICE_PROTOCOL,
  type ServiceAnswer,
  type ServiceCall,
  type ServiceOffer,
  type ServiceRequest,
} from '../../src/host/service-worker.ts';

/** A page, as the service worker sees it. */
export interface Page {
  readonly id: string;
  postMessage(message: ServiceOffer, transfer: Transferable[]): void;
}

export interface ForwardOptions {
  readonly database: string | undefined;
  /** How long a page may take to accept a request, in ms. */
  readonly acceptMs: number;
  /** How long an accepted request may take to be answered, in ms. */
  readonly answerMs: number;
  /** How often, in ms, to check whether the page that answers is still open. */
  readonly goneMs: number;
  readonly isOpen: (pageId: string) => Promise<boolean>;
}

/** `own`: the page that sends the request; it is tried first. `others`: looked up only if that page does not accept. */
export async function forward(
  request: ServiceRequest,
  own: Page | undefined,
  others: () => Promise<readonly Page[]>,
  options: ForwardOptions,
): Promise<Response> {
  let channel = own && (await firstToAccept([own], options));
  if (!channel) {
    const rest = (await others()).filter(({ id }) => id !== own?.id);
    channel = await firstToAccept(rest, options);
  }
  if (!channel) {
    const text = 'No page of this app has the database open. Open the app and try again.';
    return failure(request, text);
  }
  return ask(channel, request, options);
}

/** A port to a page, and the function that receives its messages. */
interface PageChannel {
  readonly pageId: string;
  readonly port: MessagePort;
  onAnswer: (answer: ServiceAnswer) => void;
}

const ignore = (): void => undefined;

function offerTo(page: Page, database: string | undefined): PageChannel {
  const { port1: port, port2 } = new MessageChannel();
  const channel: PageChannel = { pageId: page.id, port, onAnswer: ignore };
  port.addEventListener('message', ({ data }: MessageEvent<ServiceAnswer>) =>
    channel.onAnswer(data),
  );
  port.start();
  page.postMessage({ type: 'burrow-offer', protocol: SERVICE_PROTOCOL, database }, [port2]);
  return channel;
}

const send = ({ port }: PageChannel, call: ServiceCall): void => port.postMessage(call);

/** The channel to the first page that accepts. The other pages are dismissed. */
async function firstToAccept(
  pages: readonly Page[],
  { database, acceptMs }: ForwardOptions,
): Promise<PageChannel | undefined> {
  if (pages.length === 0) return undefined;
  const channels = pages.map((page) => offerTo(page, database));
  const chosen = await new Promise<PageChannel | undefined>((resolve) => {
    const late = setTimeout(() => resolve(undefined), acceptMs);
    for (const channel of channels) {
      channel.onAnswer = (answer) => {
        if (answer.type !== 'accept' || answer.protocol !== SERVICE_PROTOCOL) return;
        clearTimeout(late);
        resolve(channel);
      };
    }
  });
  for (const channel of channels) {
    channel.onAnswer = ignore;
    if (channel === chosen) continue;
    send(channel, { type: 'dismiss' });
    channel.port.close();
  }
  return chosen;
}

function ask(
  channel: PageChannel,
  request: ServiceRequest,
  options: ForwardOptions,
): Promise<Response> {
  return new Promise((resolve) => {
    const end = (response: Response): void => {
      clearTimeout(late);
      stopLooking();
      resolve(response);
    };
    const fail = (description: string): void => {
      channel.onAnswer = ignore;
      channel.port.close();
      end(failure(request, description));
    };
    const late = setTimeout(
      () => fail('The page that handles the request did not respond in time.'),
      options.answerMs,
    );
    const stopLooking = whenGone(channel, options, () =>
      fail('The page that handles the request was closed.'),
    );
    channel.onAnswer = (answer) => {
      if (answer.type === 'broken') return fail(answer.description);
      if (answer.type !== 'answer') return;
      const { status, headers, body } = answer;
      if (body !== undefined) channel.port.close();
      end(new Response(bodyOf(channel, body, options), { status, headers }));
    };
    send(channel, { type: 'request', request });
  });
}

/** An empty string becomes `null`, because responses with some statuses must not have a body. */
function bodyOf(
  channel: PageChannel,
  body: string | undefined,
  options: ForwardOptions,
): string | ReadableStream<Uint8Array> | null {
  if (body === undefined) return pulled(channel, options);
  return body === '' ? null : body;
}

/** A body that is pulled part by part, so that a slow download buffers only one part. */
function pulled(channel: PageChannel, options: ForwardOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const answer = await nextPart(channel, options);
    if (answer.type === 'broken') throw new TypeError(answer.description);
    if (answer.type !== 'part') throw new TypeError('The page sent an unexpected message.');
    const { part } = answer;
    if (part !== undefined) {
      controller.enqueue(typeof part === 'string' ? encoder.encode(part) : part);
      return;
    }
    controller.close();
    channel.port.close();
  };
  const cancel = (): void => {
    send(channel, { type: 'cancel' });
    channel.port.close();
    // Ends the wait for the next part.
    channel.onAnswer({ type: 'part', part: undefined });
  };
  return new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 });
}

function nextPart(channel: PageChannel, options: ForwardOptions): Promise<ServiceAnswer> {
  return new Promise((resolve) => {
    const stopLooking = whenGone(channel, options, () =>
      resolve({ type: 'broken', description: 'The page that sent this response was closed.' }),
    );
    channel.onAnswer = (answer) => {
      stopLooking();
      resolve(answer);
    };
    send(channel, { type: 'pull' });
  });
}

/** A closed page sends nothing, so its existence is checked periodically. @returns a function that stops the checks */
function whenGone(
  { pageId }: PageChannel,
  { goneMs, isOpen }: ForwardOptions,
  onGone: () => void,
): () => void {
  const look = async (): Promise<void> => {
    if (await isOpen(pageId)) return;
    stop();
    onGone();
  };
  const timer = setInterval(() => void look(), goneMs);
  const stop = (): void => clearInterval(timer);
  return stop;
}

/** The error response, in the form that clients of the path expect. */
function failure({ path }: ServiceRequest, description: string): Response {
  const isMessage = path.startsWith('/api/') || path.startsWith('/files/');
  const body = isMessage
    ? { message: description }
    : { errors: [{ code: 'time out', description }] };
  const headers = { 'content-type': 'application/json;charset=utf-8' };
  return new Response(JSON.stringify(body), { status: 503, headers });
}
