import type { PasswordJob } from '../../hosts/passwords.ts';
import { runJob } from './run-job.ts';

/** Turns this worker into a hashing worker. A failed job causes an error event of the worker. */
export function serveHashing(scope: DedicatedWorkerGlobalScope): void {
  scope.addEventListener('message', ({ data: job }: MessageEvent<PasswordJob>) => {
    runJob(job).then((answer) => scope.postMessage(answer), reportError);
  });
}
