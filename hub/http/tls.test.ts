import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect as http2 } from 'node:http2';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openTestHub } from '../testing/test-hub.ts';

const folder = mkdtempSync(join(tmpdir(), 'burrow-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));

function makeCertificate(): { readonly cert: Buffer; readonly key: Buffer } {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject];
  execFileSync('openssl', [...args, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { cert: readFileSync(cert), key: readFileSync(key) };
}

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
