/** Hashes passwords in the thread of the database, at the lowest cost, so that tests do not wait. */
import { LIMITS } from '../src/limits.ts';
import type { PasswordJob } from '../hosts/passwords.ts';
import { runJob } from '../worker/passwords/run-job.ts';
import { startPortWorker } from './port-worker.ts';

export const runCheaply = (job: PasswordJob) =>
  runJob(job.task === 'hash' ? { ...job, cost: LIMITS.hashCostMin } : job);

/** Takes the place of a hashing worker. */
export const startCheapHashing = (): Worker =>
  startPortWorker((port) => {
    port.addEventListener('message', ({ data }: MessageEvent<PasswordJob>) => {
      void runCheaply(data).then((answer) => port.postMessage(answer));
    });
    return () => undefined;
  });
