// @ts-check
/** A thread that only hashes: synchronously, for nothing else happens here. JavaScript, for Node starts it by its file. */
import { parentPort } from 'node:worker_threads';
import { compareSync, hashSync } from 'bcryptjs';

/**
 * @typedef {{ task: 'hash', password: string, cost: number } | { task: 'verify', password: string, hash: string }} PasswordJob
 * @typedef {string | boolean} PasswordAnswer
 */

const port = parentPort;
if (!port) throw new Error('This file is started as a thread.');

port.on('message', (/** @type {PasswordJob} */ job) => {
  /** @type {PasswordAnswer} */
  const answer =
    job.task === 'hash' ? hashSync(job.password, job.cost) : compareSync(job.password, job.hash);
  port.postMessage(answer);
});
