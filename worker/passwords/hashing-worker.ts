import { compareSync, hashSync } from 'bcryptjs';
import type { PasswordAnswer, PasswordJob } from '../../hosts/passwords.ts';

/** Makes this worker one that only hashes: synchronously, for nothing else happens here. */
export function serveHashing(scope: DedicatedWorkerGlobalScope): void {
  scope.addEventListener('message', ({ data: job }: MessageEvent<PasswordJob>) => {
    const answer: PasswordAnswer =
      job.task === 'hash' ? hashSync(job.password, job.cost) : compareSync(job.password, job.hash);
    scope.postMessage(answer);
  });
}
