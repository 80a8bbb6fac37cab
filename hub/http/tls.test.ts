import { connect as http2 } from 'node:http2';
import { request } from 'node:https';
import { connect as connectTls, Server as TlsServer } from 'node:tls';
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { makeCertificate } from '../testing/certificate.ts';
import { openTestHub } from '../testing/test-hub.ts';

test('with TLS both versions of HTTP are spoken, chosen by ALPN', async () => {
  const tls = makeCertificate();
  const hub = await openTestHub({ tls });
  expect(hub.url).toMatch(/^https:/);
  const one = await new Promise<{ status: number | undefined; version: string }>(
    (resolve, reject) => {
      request({ port: hub.port, host: '127.0.0.1', path: '/ping', ca: tls.cert }, (answer) => {
        answer
          .resume()
          .on('end', () => resolve({ status: answer.statusCode, version: answer.httpVersion }));
      })
        .on('error', reject)
        .end();
    },
  );
  expect(one).toEqual({ status: 200, version: '1.1' });
  const two = await new Promise<unknown>((resolve, reject) => {
    const session = http2(`https://127.0.0.1:${hub.port}`, { ca: tls.cert }).on('error', reject);
    const stream = session.request({ ':path': '/ping' });
    stream.on('error', reject);
    stream.on('response', (headers) => {
      resolve([headers[':status'], session.alpnProtocol]);
      stream.close();
      session.close();
    });
  });
  expect(two).toEqual([200, 'h2']);
  await hub.close();
});

test('of many TLS handshakes that come at once, few are begun in one turn of the event loop', async () => {
  const tls = makeCertificate();
  const hub = await openTestHub({ tls });
  let [begun, inTurn, most] = [0, 0, 0];
  const { emit } = TlsServer.prototype;
  const spy = vi.spyOn(TlsServer.prototype, 'emit').mockImplementation(function (
    this: TlsServer,
    ...event: [string, ...unknown[]]
  ) {
    if (event[0] === 'connection') {
      if (inTurn === 0) setImmediate(() => (inTurn = 0));
      most = Math.max(most, (inTurn += 1));
      begun += 1;
    }
    return Reflect.apply(emit, this, event) as boolean;
  });
  const sockets = Array.from({ length: 60 }, () =>
    connectTls({ port: hub.port, host: '127.0.0.1', ca: tls.cert }),
  );
  await Promise.all(sockets.map((socket) => once(socket, 'secureConnect')));
  for (const socket of sockets) socket.destroy();
  spy.mockRestore();
  await hub.close();
  expect(begun).toBe(60);
  expect(most).toBeLessThanOrEqual(6);
});
