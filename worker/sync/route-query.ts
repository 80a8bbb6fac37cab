/** Decides where a query on a copy is answered: by the copy, by the copy only if it holds all data, or by the hub. */
import { errorOf } from '../../src/http/answer-query.ts';
import type { MissingSet } from '../../src/answers.ts';
import { Refusal } from '../../src/errors.ts';
import type { AnswerPlace, QueryCall, QueryReply } from '../../src/host/query.ts';
import { isUnreached, type TimedQuery } from './hub-queries.ts';
import type { SyncSession } from './session.ts';
import type { Abortable } from '../queries/abortable-calls.ts';
import { checkTimeout } from '../queries/query-options.ts';
import { READ_PLACE, type QueryRunner } from '../queries/query-runner.ts';
import { queryReply } from '../queries/replies.ts';

/** How long to wait for the hub, in ms, if the copy can answer too. */
const HUB_MS = 5000;

export const ONLY_OF_SYNC =
  'Only the client of a sync takes `at`: other clients read what is stored here. Use `sync.client`.';

export async function answerQuery(
  sync: Pick<SyncSession, 'secret' | 'ask' | 'isInContact'>,
  runner: Pick<QueryRunner, 'run'>,
  call: QueryCall,
  abortable: Partial<Abortable>,
): Promise<QueryReply> {
  checkTimeout(call);
  if (call.at === undefined) return runner.run(call, abortable);
  if (call.secret !== sync.secret) throw new Refusal('bad request', ONLY_OF_SYNC);
  checkPlace(call.at);
  if (call.at === 'hub') return askHub(sync, call, abortable);
  const here = await runner.run(call, abortable);
  if (isRefusedWrite(here)) return here;
  if (call.at === 'complete') return requireComplete(here);
  if (!sync.isInContact) return here;
  const timeoutMs = Math.min(call.timeoutMs ?? HUB_MS, HUB_MS);
  const read = { ...call, timeoutMs, allows: 'read', placeName: READ_PLACE } as const;
  const atHub = await askHub(sync, read, abortable).catch((reason: unknown) => {
    if (isUnreached(reason)) return here;
    throw reason;
  });
  return isOutOfReach(atHub) ? here : atHub;
}

/** The hub is overloaded, fails, or does not accept the token: the copy answers instead. */
export const isOutOfReach = ({ status }: Pick<QueryReply, 'status'>): boolean =>
  status === 401 || status === 429 || status >= 500;

const PLACES: readonly AnswerPlace[] = ['complete', 'hub', 'hub-or-copy'];

/** @throws Refusal */
export function checkPlace(at: AnswerPlace): void {
  if (PLACES.includes(at)) return;
  const places = PLACES.join(', ');
  throw new Refusal(
    'bad request',
    `The option \`at\` must be one of ${places}, but is ${JSON.stringify(at)}.`,
  );
}

const askHub = async (
  sync: Pick<SyncSession, 'ask'>,
  call: TimedQuery,
  { signal }: Partial<Abortable>,
): Promise<QueryReply> => queryReply(await sync.ask(call, signal));

const isRefusedWrite = ({ status, body }: QueryReply): boolean =>
  status === 400 && body.includes(READ_PLACE);

/** @throws Refusal `copy_incomplete` */
export function requireComplete<Reply extends Pick<QueryReply, 'status' | 'body' | 'missing'>>(
  reply: Reply,
): Reply {
  // The schema of the copy lacks what belongs to none of its sets.
  const isUnknown = reply.status === 400 && errorOf(reply).code === 'invalid ref';
  if (!reply.missing && !isUnknown) return reply;
  const what =
    reply.missing?.map(nameOf).join(', ') ?? 'a collection, index or function of another set';
  throw new Refusal(
    'copy_incomplete',
    `The copy does not hold all that the query reads: ${what}. Keep it with \`sync.setSets()\`, wait for \`sync.whenSynced()\` if it is still being loaded, or ask the hub with \`{ at: 'hub' }\`.`,
  );
}

const nameOf = (set: MissingSet): string =>
  'collection' in set ? `Documents(Collection("${set.collection}"))` : `the index "${set.index}"`;
