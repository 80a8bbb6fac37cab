/** The queue of writes that wait for a commit, and the loop that commits them in groups, one group at a time. */
import { Refusal } from '../../errors.ts';
import type { EngineOptions, WaitingList } from '../context/host.ts';
import { hostNeeds, type Job, type Outcome } from './execution.ts';
import type { Committed, GroupCommitter } from './group-commit.ts';

const GROUP_JOBS_MAX = 256;

export class CommitQueue {
  private readonly committer: GroupCommitter;
  private readonly pause: EngineOptions['pause'] | undefined;
  private readonly waiting: WaitingList<Job>;
  private state: 'idle' | 'committing' = 'idle';

  /** @param options `pause` runs before the next group when a group left jobs over */
  constructor(
    committer: GroupCommitter,
    { pause, makeWaiting }: Partial<Pick<EngineOptions, 'pause' | 'makeWaiting'>>,
  ) {
    this.committer = committer;
    this.pause = pause;
    this.waiting = makeWaiting?.<Job>() ?? [];
  }

  /** Whether no commit is in progress. */
  get isIdle(): boolean {
    return this.state === 'idle';
  }

  add(job: Job): void {
    this.waiting.push(job);
    if (this.state === 'idle') void this.run();
  }

  private async run(): Promise<void> {
    this.state = 'committing';
    while (this.waiting.length > 0) {
      const jobs = this.waiting.splice(0, GROUP_JOBS_MAX);
      let hasRest = false;
      try {
        const committed = await this.committer.commit(jobs, () => {
          jobs.push(...this.waiting.splice(0, GROUP_JOBS_MAX - jobs.length));
        });
        hasRest = committed.rest.length > 0;
        this.settle(committed);
      } catch (reason) {
        await this.commitOneByOne(jobs, reason);
      }
      if (hasRest) await this.pause?.();
    }
    this.state = 'idle';
  }

  /**
   * If a group exceeds the storage quota, each member is retried alone, because some may still fit. After any other failure nothing is
   * retried: the commit may have succeeded although its response was lost.
   */
  private async commitOneByOne(jobs: readonly Job[], reason: unknown): Promise<void> {
    if (jobs.length === 1 || !isOutOfRoom(reason)) {
      for (const job of jobs) job.fail(reason);
      return;
    }
    for (const job of jobs) {
      try {
        this.settle(await this.committer.commit([job]));
      } catch (own) {
        job.fail(own);
      }
    }
  }

  private settle({ members, rest, retries }: Committed): void {
    this.waiting.unshift(...rest);
    for (const { job, outcome, committed } of members) {
      if (outcome.state === 'suspended') void this.addAnswered(job, outcome);
      else job.settle(outcome, committed, retries);
    }
  }

  /** Waits for the host outside the queue, so that other writes can go on, then adds the job again. */
  private async addAnswered(job: Job, outcome: Outcome): Promise<void> {
    try {
      await job.answers.settle(hostNeeds(outcome));
      this.add(job);
    } catch (reason) {
      job.fail(reason);
    }
  }
}

export const isOutOfRoom = (reason: unknown): boolean =>
  reason instanceof Refusal && reason.code === 'quota_exceeded';
