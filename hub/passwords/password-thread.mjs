// @ts-check
/**
 * A thread that hashes passwords, synchronously because it does nothing else. It is JavaScript because Node loads the file by its
 * path.
 */
import { parentPort } from 'node:worker_threads';
import { compareSync, hashSync } from 'bcryptjs';

/**
 * @typedef {import('../../hosts/passwords.ts').PasswordJob} PasswordJob
 * @typedef {import('../../hosts/passwords.ts').PasswordAnswer} PasswordAnswer
 */

const port = parentPort;
if (!port) throw new Error('This file must be started as a thread.');

port.on('message', (/** @type {PasswordJob} */ job) => {
  /** @type {PasswordAnswer} */
  const answer =
    job.task === 'hash' ? hashSync(job.password, job.cost) : compareSync(job.password, job.hash);
  port.postMessage(answer);
});
