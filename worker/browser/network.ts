/** How this host reaches a hub. */
export interface Network {
  readonly fetch: typeof fetch;
  /** @throws where WebSockets are not available */
  readonly connect: (address: string) => WebSocket;
  /** Reports whether the device is online. Even when it is online, the hub may be unreachable. */
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
