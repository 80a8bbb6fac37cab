import type { Network } from '../../worker/browser/network.ts';
import { abortableFetch } from '../abortable-fetch.ts';

/** Node tells nobody whether the device is online. */
export const nodeNetwork: Network = {
  fetch: abortableFetch,
  // Node 20 has none: sync asks for changes by `fetch` then.
  connect: (address) => new WebSocket(address),
  onChange: () => undefined,
};
