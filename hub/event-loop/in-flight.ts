import { inTime } from './in-time.ts';

/** Tasks in progress that the server waits for when it stops. */
export class InFlight {
  private readonly tasks = new Set<Promise<void>>();

  async track(task: Promise<void>): Promise<void> {
    this.tasks.add(task);
    try {
      await task;
    } finally {
      this.tasks.delete(task);
    }
  }

  /** Resolves when no task is in progress, at the latest after `ms`. */
  async ended(ms: number): Promise<void> {
    const allEnded = async (): Promise<void> => {
      while (this.tasks.size > 0) await Promise.allSettled(this.tasks);
    };
    await inTime(allEnded(), ms);
  }
}
