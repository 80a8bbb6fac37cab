/** Passwords, hashed where the database runs, at a cost that no test waits for. */
import { LIMITS } from '../src/limits.ts';
import type { PasswordJob } from '../hosts/passwords.ts';
import { runJob } from '../worker/passwords/run-job.ts';
import { startPortWorker } from './port-worker.ts';

export const runCheaply = (job: PasswordJob) =>
  runJob(job.task === 'hash' ? { ...job, cost: LIMITS.hashCostMin } : job);

/** In the place of a worker that hashes. */
export const startCheapHashing = (): Worker =>
  startPortWorker((port) => {
    port.addEventListener('message', ({ data }: MessageEvent<PasswordJob>) => {
      void runCheaply(data).then((answer) => port.postMessage(answer));
    });
    return () => undefined;
  });
