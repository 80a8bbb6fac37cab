// Loaded into the hub (`node --expose-gc --import`): reports measurements that only the process itself can make.
import { existsSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const AFTER_MS = 50;

/** Scheduler statistics of this thread, on Linux: the part of a blocked time that is not in them was spent waiting for a core. */
const SCHEDULED = `/proc/self/task/${process.pid}/schedstat`;
const ranMs = () => Number(readFileSync(SCHEDULED, 'utf8').split(' ')[0]) / 1e6;
let ranBefore = 0;
const isKnown = existsSync(SCHEDULED);
let longestRanMs = isKnown ? 0 : NaN;
if (isKnown)
  setInterval(() => {
    const ran = ranMs();
    if (ranBefore > 0) longestRanMs = Math.max(longestRanMs, ran - ranBefore);
    ranBefore = ran;
  }, 5).unref();

process.on('message', () => {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  process.send?.({
    held: heapUsed + external,
    rss,
    cpuMs: (user + system) / 1000,
    blockedMs: delay.max / 1e6,
    longestRanMs,
  });
  // Resets after the next sample, which still contains the garbage collection.
  setTimeout(() => {
    delay.reset();
    if (isKnown) longestRanMs = 0;
  }, AFTER_MS);
});
