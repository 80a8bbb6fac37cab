/** Opens streams of a host in memory and reads them frame by frame. */
import { expect } from 'vitest';
import { handleRequest } from '../handle.ts';
import type { HttpHost } from '../message.ts';
import { openMemoryHost, type MemoryHost } from './memory-host.ts';

interface Frame {
  readonly type: string;
  readonly txn: number;
  readonly event: Record<string, unknown>;
}

export const headersOf = (secret: string, apiVersion = '4') => ({
  authorization: `Bearer ${secret}`,
  'x-faunadb-api-version': apiVersion,
});

export async function query(
  host: MemoryHost,
  wire: unknown,
  secret = host.admin,
): Promise<Record<string, unknown>> {
  const body = JSON.stringify(wire);
  const request = { method: 'POST', path: '/', headers: headersOf(secret), body };
  const answer = await host.handle(request);
  expect(answer.status, answer.body).toBeLessThan(300);
  return (JSON.parse(answer.body) as { resource: Record<string, unknown> }).resource;
}

interface Opening {
  readonly path?: string;
  readonly secret?: string;
  readonly apiVersion?: string;
  readonly http?: HttpHost;
}

export async function openStream(
  host: MemoryHost,
  wire: unknown,
  { path = '/stream', secret = host.admin, apiVersion, http = host.http }: Opening = {},
) {
  const headers = headersOf(secret, apiVersion);
  const request = { method: 'POST', path, headers, body: JSON.stringify(wire) };
  const answer = await handleRequest(request, http);
  expect(typeof answer.body).toBe('object');
  const frames = (answer.body as AsyncIterable<string>)[Symbol.asyncIterator]();
  return {
    headers: answer.headers,
    async next(): Promise<Frame> {
      const { value } = (await frames.next()) as { value: string };
      expect(value).toMatch(/\r\n$/);
      return JSON.parse(value) as Frame;
    },
    end: () => frames.return?.(),
    isOver: async () => (await frames.next()).done,
  };
}

/** Like `openStream()`, and reads the first frame. */
export async function startStream(...opening: Parameters<typeof openStream>) {
  const stream = await openStream(...opening);
  await stream.next();
  return stream;
}

export async function withNotes(
  options?: Parameters<typeof openMemoryHost>[0],
): Promise<MemoryHost> {
  const host = await openMemoryHost(options);
  await query(host, { create_collection: { object: { name: 'notes' } } });
  const index = {
    name: 'by_tag',
    source: { collection: 'notes' },
    terms: [{ object: { field: ['data', 'tag'] } }],
    values: [{ object: { field: ['data', 'n'] } }],
  };
  await query(host, { create_index: { object: index } });
  return host;
}

export const NOTE = { ref: { collection: 'notes' }, id: '1' };
export const data = (members: unknown) => ({ object: { data: { object: members } } });
export const REF = {
  '@ref': {
    id: '1',
    collection: { '@ref': { id: 'notes', collection: { '@ref': { id: 'collections' } } } },
  },
};
