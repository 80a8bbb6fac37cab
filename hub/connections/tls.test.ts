import { connect as http2 } from 'node:http2';
import { request } from 'node:https';
import { expect, test } from 'vitest';
import { makeCertificate } from '../testing/certificate.ts';
import { openTestHub } from '../testing/test-hub.ts';

test('with TLS the hub speaks HTTP/1.1 and HTTP/2, chosen by ALPN', async () => {
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
});
