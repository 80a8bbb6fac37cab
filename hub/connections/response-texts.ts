/** Responses without a request: to connections from which no request could be read, or nothing was read. */
import type { Socket } from 'node:net';

/** Responds to an error of the protocol that occurred before there was a request to route. */
export function respondToProtocolError(
  reason: Error & { readonly code?: string },
  socket: Socket,
): void {
  if (!socket.writable || socket.destroyed) {
    socket.destroy();
    return;
  }
  const [status, code] =
    reason.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'bad request']
      : reason.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'request timeout']
        : ['400 Bad Request', 'bad request'];
  socket.end(responseText(status, code, 'The request could not be read.'));
}

function responseText(status: string, code: string, description: string, headers = ''): string {
  const body = JSON.stringify({ errors: [{ code, description }] });
  return `HTTP/1.1 ${status}\r\ncontent-type: application/json;charset=utf-8\r\n${headers}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
}

/** The response to a connection that waited too long for a place. */
export const LATE = responseText(
  '429 Too Many Requests',
  'too many requests',
  'Other connections of this address were busy for too long, or were closed because of what they cost: open fewer at a time, or keep them open between requests.',
  'retry-after: 1\r\n',
);
