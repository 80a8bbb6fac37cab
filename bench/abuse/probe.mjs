// Loaded into the hub before its program: reports to the parent process how long the event loop was blocked, and the memory in use.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const RESOLUTION_MS = 2;

if (isMainThread && process.send) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  process.on('message', () => {
    const delayMs = Math.max(0, delay.max / 1e6 - RESOLUTION_MS);
    delay.reset();
    process.send?.({ delayMs, memoryBytes: process.memoryUsage().rss });
  });
  process.channel?.unref();
}
