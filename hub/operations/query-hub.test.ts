/** What stands at a URL may be another server than a hub. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { OperationFault } from './operation-fault.ts';
import { queryHub } from './query-hub.ts';

let server: Server | undefined;
afterEach(() => server?.close());

async function answering(status: number, text: string): Promise<string> {
  const made = createServer((_, response) => response.writeHead(status).end(text));
  server = made;
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
}

test.each<[number, string]>([
  [200, '<html>Welcome</html>'],
  [200, ''],
  [404, 'Not Found'],
  [502, 'null'],
])('queryHub() says that status %i with %j is no answer of a hub', async (status, text) => {
  const asked = queryHub(await answering(status, text), 'secret', { now: null });
  await expect(asked).rejects.toThrow(OperationFault);
  await expect(asked).rejects.toThrow(`status ${status}`);
});
