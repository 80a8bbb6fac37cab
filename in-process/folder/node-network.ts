import type { Network } from '../../worker/browser/network.ts';
import { abortableFetch } from '../abortable-fetch.ts';

/** Node does not report whether the device is online. */
export const nodeNetwork: Network = {
  fetch: abortableFetch,
  // Node 20 has no `WebSocket`: sync falls back to `fetch`.
  connect: (address) => new WebSocket(address),
  onChange: () => undefined,
};
