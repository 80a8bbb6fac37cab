import { compare, hash } from 'bcryptjs';
import type { PasswordAnswer, PasswordJob } from '../../hosts/passwords.ts';

/** In slices of 100 ms, between which others have their turn. */
export const runJob = (job: PasswordJob): Promise<PasswordAnswer> =>
  job.task === 'hash' ? hash(job.password, job.cost) : compare(job.password, job.hash);
