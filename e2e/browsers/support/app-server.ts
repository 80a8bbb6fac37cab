/** Serves the app to one browser, and connects each of its tabs to the test over a WebSocket. */
import { readFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { WebSocketServer, type WebSocket } from 'ws';
import { Tab } from './tab.ts';
import { readPageMessage } from './page-messages.ts';

export class AppServer {
  private readonly folder: string;
  private readonly server: Server;
  private readonly sockets: WebSocketServer;
  private readonly tabs = new Map<string, Tab>();
  private origin = '';
  private isRefusing = false;

  private constructor(folder: string) {
    this.folder = folder;
    this.server = createServer(({ url = '/' }, response) => void this.answer(url, response));
    this.sockets = new WebSocketServer({ server: this.server });
    this.sockets.on('connection', (socket) => this.greet(socket));
  }

  static async start(folder: string): Promise<AppServer> {
    const app = new AppServer(folder);
    await new Promise<void>((resolve, reject) => {
      app.server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    const address = app.server.address();
    if (typeof address !== 'object' || address === null) throw new Error('The app has no port.');
    app.origin = `http://127.0.0.1:${address.port}`;
    return app;
  }

  /** A tab without a page so far. The page that opens the tab's URL becomes its first page. */
  newTab(): Tab {
    const name = String(this.tabs.size + 1);
    const tab = new Tab(`${this.origin}/?tab=${name}`);
    this.tabs.set(name, tab);
    return tab;
  }

  /** Called when the browser has ended: pending calls are rejected. */
  loseTabs(): void {
    for (const tab of this.tabs.values()) tab.lose();
  }

  /** From now on, HTTP requests are cut off, as without network. WebSockets to tests still work. */
  refuse(): void {
    this.isRefusing = true;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets.clients) socket.terminate();
    this.sockets.close();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private greet(socket: WebSocket): void {
    socket.once('message', (data: Buffer) => {
      const message = readPageMessage(data);
      if (message.type !== 'hello') throw new Error(`A page began with ${message.type}.`);
      this.tabs.get(message.tab)?.arrive(socket, message.arrival);
    });
  }

  private async answer(url: string, response: ServerResponse): Promise<void> {
    if (this.isRefusing) {
      response.destroy();
      return;
    }
    const { pathname } = new URL(url, this.origin);
    const path = join(this.folder, normalize(pathname === '/' ? '/index.html' : pathname));
    const type = TYPES[extname(path)];
    const content = type === undefined ? undefined : await readFile(path).catch(() => undefined);
    if (type === undefined || content === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('There is no such file.');
      return;
    }
    // Not `no-store`, which would keep the page out of the back/forward cache.
    response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' }).end(content);
  }
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html;charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
};
