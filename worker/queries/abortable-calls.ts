/** Calls that the page may abort, by the numbers it gave them. */
import type { QueryRequest } from '../../src/engine/host.ts';
import { Refusal, REFUSALS } from '../../src/errors.ts';
import type { QueryReply } from '../../src/host/query.ts';
import type { SubmitReply } from '../../src/host/sync.ts';
import { errorOf } from '../../src/http/answer-query.ts';

/** What a call looks at. */
export interface Abortable extends Required<Pick<QueryRequest, 'isAbandoned'>> {
  readonly signal: AbortSignal;
}

export class AbortableCalls {
  private readonly running = new Map<number, () => void>();

  /**
   * Aborted before its first execution, the call ends at once; later, when the engine has stopped it, or has committed.
   * @throws Refusal `time out` when it was aborted, and had no effect
   */
  async run<T extends QueryReply | SubmitReply>(
    number: number | undefined,
    work: (abortable: Partial<Abortable>) => Promise<T>,
  ): Promise<T> {
    if (number === undefined) return work({});
    let hasBegun = false;
    const query = async (signal: AbortSignal): Promise<T> => {
      const isAbandoned = (): boolean => {
        hasBegun = true;
        return signal.aborted;
      };
      const reply = await work({ signal, isAbandoned });
      if (signal.aborted && isTimeOut(reply)) throw aborted();
      return reply;
    };
    return this.until(number, query, () => !hasBegun);
  }

  /** For what may be given up anywhere: aborted, it ends at once. @throws Refusal `time out` then */
  async runUntil<T>(
    number: number | undefined,
    work: (signal?: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return number === undefined ? work() : this.until(number, work, () => true);
  }

  private async until<T>(
    number: number,
    work: (signal: AbortSignal) => Promise<T>,
    endsAtOnce: () => boolean,
  ): Promise<T> {
    const controller = new AbortController();
    const stopped = new Promise<never>((_, reject) => {
      this.running.set(number, () => {
        controller.abort();
        if (endsAtOnce()) reject(aborted());
      });
    });
    try {
      return await Promise.race([work(controller.signal), stopped]);
    } finally {
      this.running.delete(number);
    }
  }

  /** Nothing happens when the call has ended. */
  abort(number: number): void {
    this.running.get(number)?.();
  }
}

function isTimeOut(reply: QueryReply | SubmitReply): boolean {
  const answer = 'status' in reply ? reply : reply.answer;
  return answer?.status === REFUSALS['time out'].status && errorOf(answer).code === 'time out';
}

export const aborted = (): Refusal => new Refusal('time out', 'The call was aborted.');
