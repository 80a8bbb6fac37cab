/** Replies to calls of the page: answers of queries, and errors as data. */
import type { QueryAnswer } from '../../src/engine/host.ts';
import { Refusal } from '../../src/errors.ts';
import type { RefusalData, Reply } from '../../src/host/api.ts';
import type { QueryReply } from '../../src/host/query.ts';
import { pageBody } from './page-body.ts';

/**
 * The refusal that the caller gets. Details of an internal error are only reported to the console, because they may contain other users'
 * data.
 */
export function refusalOf(reason: unknown): RefusalData {
  if (reason instanceof Refusal) return { code: reason.code, description: reason.message };
  // Browsers throw a SecurityError where a page may not store anything: Web Locks, BroadcastChannel and IndexedDB are all denied.
  if ((reason as Partial<Error> | undefined)?.name === 'SecurityError')
    return { code: 'storage_unavailable', description: DENIED };
  report(reason);
  return {
    code: 'internal server error',
    description: 'Internal error in the database while handling the call.',
  };
}

const DENIED =
  'The browser does not let this page store data. Allow cookies and site data, or open it outside of a frame of another site.';

/** The reply to a query that was sent with this secret. */
export const queryReply = (answer: QueryAnswer, secret?: string): QueryReply => ({
  status: answer.status,
  body: pageBody(answer, secret),
  metrics: answer.metrics,
  ...(answer.missing?.length && { missing: answer.missing }),
  ...(answer.isFromHub && { isFromHub: true }),
});

export async function replyOf<T>(work: () => Promise<T>): Promise<Reply<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (reason) {
    return { ok: false, refusal: refusalOf(reason) };
  }
}

/** Reports internal errors to the console. */
export function report(reason: unknown): void {
  console.error('Burrow:', reason);
}
