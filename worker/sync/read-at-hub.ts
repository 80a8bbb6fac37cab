/** Read-only queries at a hub. `POST /` would allow them to write, through a function whose body the device does not know. */
import type { QueryAnswer } from '../../src/engine/host.ts';
import { LIVE_QUERY_CONTEXT } from '../../src/fault-texts.ts';
import { abortWith } from '../../hosts/abort-with.ts';
import { aborted } from '../queries/abortable-calls.ts';
import type { LiveAnswer } from '../queries/live-queries.ts';
import { HubLiveQueries, type HubLiveOptions } from './hub-live-queries.ts';
import { HUBS_ANSWER, notAnswered, QUERY_MS, unanswered, type TimedQuery } from './hub-queries.ts';

/**
 * Sends the query as a live query, in which the hub refuses writes, and returns its first answer.
 * @throws Refusal `hub_unreachable`
 */
export async function readAtHub(
  open: HubLiveOptions['open'],
  { query, timeoutMs = QUERY_MS, placeName }: TimedQuery,
  signal?: AbortSignal,
): Promise<QueryAnswer> {
  const ended = abortWith(signal, AbortSignal.timeout(timeoutMs));
  const live = new HubLiveQueries({ open });
  try {
    const { status, body } = await new Promise<LiveAnswer>((resolve, reject) => {
      ended.signal.throwIfAborted();
      ended.signal.addEventListener('abort', reject);
      live.subscribe(0, '', query, (_, answer) => resolve(answer));
    });
    const said = status === 400 && placeName ? body.replace(LIVE_QUERY_CONTEXT, placeName) : body;
    return { ...HUBS_ANSWER, status, body: said };
  } catch (cause) {
    throw signal?.aborted ? aborted() : unanswered(true, notAnswered(cause, timeoutMs));
  } finally {
    live.close();
    ended.abort();
  }
}
