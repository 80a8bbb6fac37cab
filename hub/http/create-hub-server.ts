/** The hub on the network: fastify routes and hooks, one port for both versions of HTTP. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from '../monitoring/logger.ts';
import { Acceptor, type AnyRequest, type AnyResponse, type Listener } from './acceptor.ts';
import { isLoopback } from '../admission/allowed-callers.ts';
import { HubSurface } from './request-handler.ts';
import type { HubServerOptions } from './server-options.ts';
import type { HubRoute } from './route.ts';

export interface HubServer {
  /** @returns where it listens */
  listen(port: number): Promise<string>;
  /** Takes nothing new, waits for what is under way, then ends what is left. */
  close(): Promise<void>;
}

export async function createHubServer(options: HubServerOptions): Promise<HubServer> {
  const { settings, logger } = options;
  const surface = new HubSurface(options, () => acceptor.socketCount);
  const accept = (listener: Listener): Acceptor =>
    new Acceptor({
      tls: settings.tls,
      limits: settings.limits,
      uncounted: settings.trustedProxies,
      listener,
      onCrowded: () => surface.noteCrowded(),
    });
  const { app, acceptor } = await openApp(surface, logger, accept, options.routes ?? []);
  return {
    async listen(port) {
      const address = await acceptor.listen(port, settings.host);
      const scheme = settings.tls ? 'https' : 'http';
      const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
      return `${scheme}://${isLoopback(settings.host) ? name : settings.host}:${address.port}`;
    },
    async close() {
      surface.drain();
      acceptor.drain();
      await surface.ended(settings.limits.drainMs);
      acceptor.closeIdle();
      acceptor.destroy();
      await app.close();
    },
  };
}

async function openApp(
  surface: HubSurface,
  logger: Logger,
  accept: (listener: Listener) => Acceptor,
  routes: readonly HubRoute[],
): Promise<{ readonly app: FastifyInstance; readonly acceptor: Acceptor }> {
  const made: { acceptor?: Acceptor } = {};
  const app = fastify({
    // Its own view of a request is never logged: headers hold secrets.
    logger: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 4096, ignoreDuplicateSlashes: true },
    serverFactory: (listener) => {
      made.acceptor = accept(listener as unknown as Listener);
      return made.acceptor.http1;
    },
  }) as unknown as FastifyInstance;
  // Bodies are read by the surface, whatever their type and whatever the method: nothing is to be parsed before.
  for (const method of METHODS)
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  const to =
    (serve: (request: AnyRequest, response: AnyResponse) => Promise<void>) =>
    (request: FastifyRequest, reply: FastifyReply): void => {
      reply.hijack();
      serve(request.raw, reply.raw).catch((reason: unknown) => {
        logger.error({ err: reason }, 'an answer failed');
        reply.raw.destroy();
      });
    };
  const serveHealth = to((request, response) => surface.serveHealth(request, response));
  const serveMetrics = to((request, response) => surface.serveMetrics(request, response));
  app.route({ method: READS, url: '/health', handler: serveHealth });
  app.route({ method: READS, url: '/metrics', handler: serveMetrics });
  for (const route of routes) {
    const serve = to((request, response) => surface.serve(request, response, route));
    app.all(`${route.prefix}*`, serve);
  }
  const serve = to((request, response) => surface.serve(request, response));
  app.all('/*', serve);
  app.setNotFoundHandler(serve);
  app.setErrorHandler((reason, request, reply) => {
    logger.error({ err: reason }, 'a request failed before it was routed');
    serve(request, reply);
  });
  const { acceptor } = made;
  if (!acceptor) throw new Error('fastify made no server.');
  acceptor.http1.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Some clients, of Java for one, offer h2c with their first request, and go on as they are when nobody takes it up.
    if (request.headers.upgrade?.toLowerCase() !== 'websocket')
      return acceptor.declineUpgrade(request, socket, head);
    surface.serveLine(request, socket, head, routes).catch((reason: unknown) => {
      logger.error({ err: reason }, 'a line failed');
      socket.destroy();
    });
  });
  await app.ready();
  return { app, acceptor };
}

const READS = ['GET', 'HEAD'];
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
