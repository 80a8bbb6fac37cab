import type { PasswordJob } from '../../hosts/passwords.ts';
import { runJob } from './run-job.ts';

/** Makes this worker one that only hashes. A job that fails is an error event of the worker. */
export function serveHashing(scope: DedicatedWorkerGlobalScope): void {
  scope.addEventListener('message', ({ data: job }: MessageEvent<PasswordJob>) => {
    runJob(job).then((answer) => scope.postMessage(answer), reportError);
  });
}
