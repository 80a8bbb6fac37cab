import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';

/** Nothing but files of this server; no text becomes a script, except the worker's URL by the policy `burrow`. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'", // and the hub, for sync
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types burrow',
].join('; ');

const types = { '.html': 'text/html;charset=utf-8', '.js': 'text/javascript' };
const port = Number(process.env.PORT ?? 3000);

createServer(async ({ url }, response) => {
  const { pathname } = new URL(url, 'http://localhost');
  const file = pathname === '/' ? '/index.html' : pathname;
  response.setHeader('content-security-policy', policy);
  try {
    const contents = await readFile(join('dist', file));
    response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream');
    response.end(contents);
  } catch {
    response.writeHead(404).end('There is no such file.');
  }
}).listen(port, 'localhost', () => console.log(`http://localhost:${port}/`));
