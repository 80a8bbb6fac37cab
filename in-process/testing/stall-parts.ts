/** A network on which no part of a file arrives, in either direction. */
import type { Network } from '../../worker/browser/network.ts';
import type { SwitchedNetwork } from '../test-network.ts';

const PART = /\/files\/[\da-f]{64}\/\d/;

/** @returns the number of chunks that were requested or sent */
export function stallParts(network: Pick<SwitchedNetwork, 'until'>): () => number {
  let parts = 0;
  const until = network.until.bind(network);
  network.until = (ended): Network => {
    const inner = until(ended);
    const fetch: Network['fetch'] = (input, init) => {
      const url = input instanceof Request ? input.url : input.toString();
      if (!PART.test(url)) return inner.fetch(input, init);
      parts += 1;
      return new Promise((_, reject) =>
        init?.signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError'))),
      );
    };
    return { ...inner, fetch };
  };
  return () => parts;
}
