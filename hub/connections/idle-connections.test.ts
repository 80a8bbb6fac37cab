/** Which connections count as idle, without a network. Their limits are tested in http/abuse.test.ts. */
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { IdleConnections } from './idle-connections.ts';

const ADDRESS = '192.0.2.1';

function open() {
  const idle = new IdleConnections();
  const connect = () => {
    const emitter = new EventEmitter();
    const socket = Object.assign(emitter, {
      destroyed: false,
      destroy: () => {
        socket.destroyed = true;
        emitter.emit('close');
      },
    });
    return socket as unknown as Socket;
  };
  /** @returns ends the response */
  const request = (socket: Socket): (() => void) => {
    const response = new EventEmitter();
    idle.track(socket, ADDRESS, response as unknown as ServerResponse);
    return () => void response.emit('close');
  };
  const endOldest = (count = 1): boolean => idle.endOldest(ADDRESS, count, 0);
  return { idle, connect, request, endOldest };
}

test('a connection is idle only when all of its requests are answered', () => {
  const { connect, request, endOldest } = open();
  const socket = connect();
  const [first, second] = [request(socket), request(socket)];
  first();
  expect(endOldest()).toBe(false);
  second();
  const third = request(socket);
  expect(endOldest()).toBe(false);
  third();
  expect([endOldest(), socket.destroyed]).toEqual([true, true]);
  expect(endOldest()).toBe(false);
});

test('a connection that has closed is not idle, whether it closed before or after its response', () => {
  const { connect, request, endOldest } = open();
  const [before, after] = [connect(), connect()];
  const answer = request(before);
  before.destroy();
  answer();
  request(after)();
  after.destroy();
  expect(endOldest()).toBe(false);
});

test('a request on one connection leaves the others of its address idle', () => {
  const { idle, connect, request, endOldest } = open();
  const [used, other] = [connect(), connect()];
  for (const socket of [used, other]) request(socket)();
  request(used);
  // A request may be on its way to it.
  expect(idle.endOldest(ADDRESS)).toBe(false);
  expect([endOldest(), used.destroyed, other.destroyed]).toEqual([true, false, true]);
});

test('of several idle connections, those that have been idle longest are closed', () => {
  const { connect, request, endOldest } = open();
  const sockets = [connect(), connect(), connect()];
  const [first, second, third] = sockets.map(request);
  for (const answer of [second, third, first]) answer?.();
  expect(endOldest(2)).toBe(true);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, true, true]);
});
