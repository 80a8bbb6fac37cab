/** Calls that the page can abort, by the numbers that the page assigned to them. */
import type { QueryRequest } from '../../src/engine/host.ts';
import { Refusal, REFUSALS } from '../../src/errors.ts';
import type { QueryReply } from '../../src/host/query.ts';
import type { SubmitReply } from '../../src/host/sync.ts';
import { errorOf } from '../../src/http/answer-query.ts';

/** What a call checks to see whether it was aborted. */
export interface Abortable extends Required<Pick<QueryRequest, 'isAbandoned'>> {
  readonly signal: AbortSignal;
}

export class AbortableCalls {
  private readonly running = new Map<number, () => void>();

  /**
   * If the call is aborted before its first execution, it ends immediately. Later, it ends when the engine has stopped the query or has
   * committed.
   * @throws Refusal `time out` when the call was aborted and had no effect
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

  /** For calls that can be aborted at any point: they end immediately. @throws Refusal `time out` when the call was aborted */
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

  /** Does nothing when the call has already ended. */
  abort(number: number): void {
    this.running.get(number)?.();
  }
}

function isTimeOut(reply: QueryReply | SubmitReply): boolean {
  const answer = 'status' in reply ? reply : reply.answer;
  return answer?.status === REFUSALS['time out'].status && errorOf(answer).code === 'time out';
}

export const aborted = (): Refusal => new Refusal('time out', 'The call was aborted.');
