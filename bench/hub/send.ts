/** Sends one request to a hub on this machine. */
import { request, type Agent } from 'node:http';
import type { Socket } from 'node:net';

export interface Sent {
  readonly secret: string;
  readonly body: string | Buffer;
  /** Local address from which to connect. */
  readonly localAddress?: string;
  readonly agent?: Agent;
  readonly path?: string;
  readonly method?: string;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
}

const ignore = (): void => undefined;

/** Ignores a reset of the socket after the response, while the rest of the body is sent: no other listener handles that error. */
const hear = (socket: Socket): Socket => socket.off('error', ignore).on('error', ignore);

export function send(port: number, { secret, body, ...how }: Sent): Promise<Answered> {
  const headers = {
    authorization: `Bearer ${secret}`,
    'x-faunadb-api-version': '4',
    'content-length': Buffer.byteLength(body),
  };
  const { path = '/', method = 'POST', ...from } = how;
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, ...from }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => (text += part));
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on('error', reject).once('socket', hear);
    sent.end(body);
  });
}
