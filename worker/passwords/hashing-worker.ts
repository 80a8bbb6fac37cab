import { compareSync, hashSync } from 'bcryptjs';
import type { HashingAnswer, HashingJob } from './hashing-protocol.ts';

/** Makes this worker one that only hashes: synchronously, for nothing else happens here. */
export function serveHashing(scope: DedicatedWorkerGlobalScope): void {
  scope.addEventListener('message', ({ data: job }: MessageEvent<HashingJob>) => {
    const answer: HashingAnswer =
      job.task === 'hash' ? hashSync(job.password, job.cost) : compareSync(job.password, job.hash);
    scope.postMessage(answer);
  });
}
