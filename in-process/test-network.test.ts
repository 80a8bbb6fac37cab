import { expect, onTestFinished, test } from 'vitest';
import { serveAt, SwitchedNetwork } from './test-network.ts';

test('a network keeps nothing of a stream that its reader has ended', async () => {
  const origin = 'http://streams.test';
  onTestFinished(
    serveAt(origin, () =>
      Promise.resolve({ response: new Response(new ReadableStream()), isStream: true }),
    ),
  );
  const network = new SwitchedNetwork();
  const { fetch } = network.until(new AbortController().signal);
  for (let n = 0; n < 3; n += 1) {
    const reader = new AbortController();
    await fetch(`${origin}/`, { signal: reader.signal });
    expect(network.inFlight.size).toBe(1);
    reader.abort();
    expect(network.inFlight.size).toBe(0);
  }
});
