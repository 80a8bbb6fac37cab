import { expose } from 'comlink';
import { type Hello, PROTOCOL, type Ready } from '../src/host/open.ts';
import type { HostApi } from '../src/host/api.ts';

/** The worker's end of the channel to a page. */
export type PageEndpoint = Pick<
  MessagePort,
  'addEventListener' | 'removeEventListener' | 'postMessage'
>;

/** Responds to the page's hello message, and exposes the calls that the page can make. */
export function servePage(host: HostApi<MessagePort>, endpoint: PageEndpoint): void {
  endpoint.addEventListener('message', ({ data }: MessageEvent<Partial<Hello> | undefined>) => {
    if (data?.type !== 'burrow-hello') return;
    endpoint.postMessage({ type: 'burrow-ready', protocol: PROTOCOL } satisfies Ready);
  });
  expose(host, endpoint);
}
