/** Connects the hub to the network: one port for HTTP/1.1, HTTP/2 and WebSockets. */
import { isIPv6 } from 'node:net';
import { isLoopback } from '../settings/settings.ts';
import { Acceptor } from '../connections/acceptor.ts';
import { RequestHandler } from './request-handler.ts';
import { breakOff } from './send-response.ts';
import type { HubServerOptions } from './server-options.ts';

export interface HubServer {
  /** @returns the URL of the server */
  listen(port: number): Promise<string>;
  /** Stops accepting connections and requests, waits for those in progress, then ends the rest. */
  close(): Promise<void>;
}

export function createHubServer(options: HubServerOptions): HubServer {
  const { settings, tls, logger } = options;
  const handler = new RequestHandler(options, () => acceptor.socketCount);
  const acceptor = new Acceptor({
    tls,
    settings,
    onRequest(request, response) {
      handler.handle(request, response).catch((reason: unknown) => {
        logger.error({ err: reason }, 'a request failed');
        breakOff(response);
      });
    },
    onWebSocket(request, socket, head) {
      handler.handleUpgrade(request, socket, head).catch((reason: unknown) => {
        logger.error({ err: reason }, 'a WebSocket failed');
        socket.destroy();
      });
    },
    onRefused: () => handler.countRefusedConnection(),
  });
  return {
    async listen(port) {
      const address = await acceptor.listen(port, settings.host);
      const scheme = tls ? 'https' : 'http';
      const name = isLoopback(settings.host) ? address.address : settings.host;
      const url = `${scheme}://${isIPv6(name) ? `[${name}]` : name}:${address.port}`;
      options.hub.setUrl(url);
      return url;
    },
    async close() {
      await acceptor.readAll();
      handler.drain();
      acceptor.drain();
      await Promise.all([handler.ended(settings.drainMs), acceptor.ended(settings.drainMs)]);
      await acceptor.destroy();
    },
  };
}
