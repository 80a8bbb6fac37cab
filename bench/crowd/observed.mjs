// Loaded into the hub (`node --expose-gc --import`): tells the bench what only the process itself knows.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const AFTER_MS = 50;

process.on('message', () => {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  process.send?.({
    held: heapUsed + external,
    rss,
    cpuMs: (user + system) / 1000,
    blockedMs: delay.max / 1e6,
  });
  // Not the collection itself: the next sample tells of it.
  setTimeout(() => delay.reset(), AFTER_MS);
});
