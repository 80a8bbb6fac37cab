/** Bodies of answers for clients of the page. What they say besides is not said over HTTP, where programs compare texts. */
import { looksLikeAccessToken, parseSecret } from '../../src/engine/access.ts';
import type { QueryAnswer } from '../../src/engine/host.ts';
import { detailedBody, refusalBody } from '../../src/engine/session.ts';

const OF_PAGE = 'this is no key or token. Root secrets last as long as a page: use db.client().';

/**
 * @param secret that the query was sent with
 * @param unknown why one that has no form of ours opens nothing
 */
export function pageBody(
  { status, body, faults }: Pick<QueryAnswer, 'status' | 'body' | 'faults'>,
  secret = '',
  unknown = OF_PAGE,
): string {
  if (faults) return detailedBody(faults);
  // Sync makes a secret of its own, and says itself what becomes of its user.
  if (status !== 401 || secret.startsWith('burrow-sync-')) return body;
  const kind = parseSecret(secret.replace(/:.*/s, ''))?.kind;
  const why = looksLikeAccessToken(secret)
    ? 'this JWT is expired, or of another audience, or no access provider has a role for it.'
    : kind
      ? `this ${kind} was deleted, is expired, or of another database.`
      : unknown;
  return refusalBody('unauthorized', `Unauthorized: ${why}`);
}
