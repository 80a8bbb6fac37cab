/** Test kit: a process with an engine on the server that it is given. It runs the queries it is sent, many at a time. */
import { openMemoryHost } from '../../src/http/testing/memory-host.ts';
import { openHubStore } from '../store/open-store.ts';

export interface Asked {
  readonly id: number;
  readonly body: string;
}
export interface Answered {
  readonly id: number;
  readonly status: number;
  readonly body: string;
}

const [, , postgres = '', tenant = ''] = process.argv;
const { store } = await openHubStore({ at: { postgres, tenant }, connectionsMax: 4 });
const host = await openMemoryHost({ store });
const headers = { authorization: `Bearer ${host.admin}`, 'x-faunadb-api-version': '4' };

process.on('message', ({ id, body }: Asked) => {
  void host.request({ method: 'POST', path: '/', headers, body }).then((answer) => {
    const answered: Answered = { id, status: answer.status, body: answer.body };
    process.send?.(answered);
  });
});
process.send?.('ready');
