/**
 * Runs bcrypt in separate workers, so that a login does not block queries. Where no worker can be started (no nested workers, a strict
 * content security policy), it runs in this worker, in time slices.
 */
import { passwordChecks, type PasswordAnswer, type PasswordJob } from '../../hosts/passwords.ts';
import type { EngineOptions } from '../../src/engine/host.ts';
import { Refusal } from '../../src/errors.ts';
import { HASHING_NAME } from './hashing-protocol.ts';
import { runJob } from './run-job.ts';

export interface PasswordPoolOptions {
  readonly hashCost: number;
  readonly start: () => Worker;
  readonly workersMax: number;
}

/** Long enough for a slow phone at the highest cost. A worker that takes longer is considered lost. */
const JOB_MS = 60_000;
const IDLE_MS = 30_000;

interface Pending {
  readonly job: PasswordJob;
  readonly resolve: (answer: PasswordAnswer) => void;
  readonly reject: (reason: unknown) => void;
}

interface Helper {
  readonly worker: Worker;
  busy: Pending | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class PasswordPool {
  readonly passwords: EngineOptions['passwords'];
  private readonly options: PasswordPoolOptions;
  private readonly queue: Pending[] = [];
  private readonly helpers = new Set<Helper>();
  /** No worker could be started, or one has failed: passwords are hashed in this worker. */
  private runsInline = false;

  constructor(options: PasswordPoolOptions) {
    this.options = options;
    this.passwords = passwordChecks(options.hashCost, (job) => this.run(job));
  }

  close(): void {
    for (const helper of this.helpers) this.drop(helper);
    const reason = new Refusal('storage_unavailable', 'The database was closed.');
    for (const { reject } of this.queue.splice(0)) reject(reason);
  }

  private run(job: PasswordJob): Promise<PasswordAnswer> {
    if (this.runsInline) return runJob(job);
    return new Promise((resolve, reject) => {
      this.queue.push({ job, resolve, reject });
      this.pump();
    });
  }

  private pump(): void {
    for (const helper of this.helpers) if (!helper.busy) this.give(helper);
    if (this.queue.length > 0 && this.helpers.size < this.options.workersMax) this.addHelper();
  }

  private addHelper(): void {
    try {
      const helper: Helper = { worker: this.options.start(), busy: undefined, timer: undefined };
      this.helpers.add(helper);
      helper.worker.addEventListener('message', ({ data }: MessageEvent<PasswordAnswer>) =>
        this.finish(helper, data),
      );
      helper.worker.addEventListener('error', (event) => {
        event.preventDefault();
        this.runInline(helper);
      });
      this.give(helper);
    } catch {
      this.runInline(undefined);
    }
  }

  private give(helper: Helper): void {
    clearTimeout(helper.timer);
    helper.busy = this.queue.shift();
    if (helper.busy) {
      helper.timer = setTimeout(() => this.runInline(helper), JOB_MS);
      helper.worker.postMessage(helper.busy.job);
    } else helper.timer = setTimeout(() => this.drop(helper), IDLE_MS);
  }

  private finish(helper: Helper, answer: PasswordAnswer): void {
    const { busy } = helper;
    this.give(helper);
    busy?.resolve(answer);
  }

  private drop(helper: Helper): void {
    clearTimeout(helper.timer);
    this.helpers.delete(helper);
    helper.worker.terminate();
    if (helper.busy) this.queue.unshift(helper.busy);
    helper.busy = undefined;
  }

  /** After a worker has failed, passwords are hashed in this worker. Waiting jobs are executed here too. */
  private runInline(failed: Helper | undefined): void {
    this.runsInline = true;
    if (failed) this.drop(failed);
    for (const { job, resolve, reject } of this.queue.splice(0)) runJob(job).then(resolve, reject);
  }
}

/** Starts this same file under another name, so that bundlers need to handle only one worker. */
export const startHashingWorker = (): Worker =>
  new Worker(self.location.href, { type: 'module', name: HASHING_NAME });
