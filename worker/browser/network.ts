/** How this host reaches a hub. */
export interface Network {
  readonly fetch: typeof fetch;
  /** @throws where there are no WebSockets */
  readonly connect: (address: string) => WebSocket;
  /** Of the device: hubs may be out of reach all the same. */
  readonly onChange: (listener: (change: 'online' | 'offline') => void) => void;
}

export const browserNetwork: Network = {
  fetch: (...call) => fetch(...call),
  connect: (address) => new WebSocket(address),
  onChange: (listener) => {
    for (const change of ['online', 'offline'] as const)
      addEventListener(change, () => listener(change));
  },
};
