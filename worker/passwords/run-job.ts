import { compare, hash } from 'bcryptjs';
import type { PasswordAnswer, PasswordJob } from '../../hosts/passwords.ts';

/** Runs in slices of 100 ms and yields to the event loop between them. */
export const runJob = (job: PasswordJob): Promise<PasswordAnswer> =>
  job.task === 'hash' ? hash(job.password, job.cost) : compare(job.password, job.hash);
