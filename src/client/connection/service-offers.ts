import type { HttpCall, HttpReply } from '../../host/query.ts';
import {
  SERVICE_PROTOCOL,
  type ServiceAnswer,
  type ServiceCall,
  type ServiceOffer,
  type ServiceRequest,
} from '../../host/service-worker.ts';
import { messageOf } from './start-worker.ts';

export interface OffersHost {
  readonly name: string;
  http(call: HttpCall): Promise<HttpReply>;
  openStream(stream: number): ReadableStream<Uint8Array>;
}

/**
 * Accepts the requests that a service worker of this app offers to pages with the open database, and answers them.
 * @returns a function that stops this
 */
export function answerOffers(host: OffersHost): () => void {
  const container = globalThis.navigator?.serviceWorker;
  if (!container) return () => undefined;
  const listen = (event: MessageEvent<Partial<ServiceOffer> | undefined>): void => {
    const { data, ports } = event;
    const [port] = ports;
    if (!port || data?.type !== 'burrow-offer' || data.protocol !== SERVICE_PROTOCOL) return;
    if (data.database !== undefined && data.database !== host.name) return;
    // If the page has the database open twice, both listeners would execute the request.
    event.stopImmediatePropagation();
    accept(host, port);
  };
  container.addEventListener('message', listen);
  container.startMessages();
  return () => container.removeEventListener('message', listen);
}

function accept(host: OffersHost, port: MessagePort): void {
  const send = (answer: ServiceAnswer): void => port.postMessage(answer);
  let parts: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let isCancelled = false;
  const stop = (): void => void parts?.cancel().catch(() => undefined);
  const settle = async (work: Promise<ServiceAnswer>): Promise<void> => {
    send(await work.catch((error: unknown) => ({ type: 'broken', description: messageOf(error) })));
  };
  const answer = async (request: ServiceRequest): Promise<ServiceAnswer> => {
    const { status, headers, body } = await host.http(request);
    const isWhole = typeof body === 'string';
    if (!isWhole) parts = host.openStream(body.stream).getReader();
    // The request was cancelled before its answer: without a reader, the stream would stay open.
    if (isCancelled) stop();
    return { type: 'answer', status, headers, body: isWhole ? body : undefined };
  };
  const nextPart = async (): Promise<ServiceAnswer> => {
    const part = await parts?.read();
    return { type: 'part', part: part?.value };
  };
  port.addEventListener('message', ({ data }: MessageEvent<ServiceCall>) => {
    switch (data.type) {
      case 'request':
        void settle(answer(data.request));
        return;
      case 'pull':
        void settle(nextPart());
        return;
      case 'cancel':
        isCancelled = true;
        stop();
        port.close();
        return;
      case 'dismiss':
        port.close();
    }
  });
  port.start();
  send({ type: 'accept', protocol: SERVICE_PROTOCOL });
}
