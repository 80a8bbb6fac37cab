/** Sync over a WebSocket: pushes with their answers, and hints of changes at any time. Everything else uses HTTP requests. */
import { membersOf, tryJson } from '../../src/codec/plain-json.ts';
import { Refusal } from '../../src/errors.ts';
import type { SyncHub } from '../../src/sync/hub/sync-hub.ts';
import type { SocketReply } from '../../src/sync/protocol/hints.ts';
import { isSyncRefusal, type SyncRefusal } from '../../src/sync/protocol/refusals.ts';
import type { AdmissionRefusal } from '../admission/admission.ts';
import type { SessionMessage, WebSocketSession } from '../http/route.ts';
import { openFeed, type HintFeed } from './hint-feed.ts';

type Send = (reply: SocketReply) => Promise<void>;

/** Serves a session until the connection ends or the credential becomes invalid, which is checked with every heartbeat. */
export async function serveSyncSession(
  sync: SyncHub,
  session: WebSocketSession,
  heartbeatMs: number,
): Promise<void> {
  const send: Send = (reply) => session.send(JSON.stringify(reply));
  const opened = await readOpening(session);
  if (!opened) return;
  if ('refused' in opened) return send(opened);
  const { token, device } = opened;
  const { signal } = session;
  const feed = await openFeed(sync, { secret: token, device, heartbeatMs, signal });
  if (isSyncRefusal(feed)) return send({ refused: feed });
  await send({ opened: true });
  const sendingHints = sendHints(feed, session, send);
  try {
    for (let message = await session.next(); message; message = await session.next()) {
      const reply = await replyTo(message, token, sync).finally(message.end);
      if (!reply) break;
      await send(reply);
    }
  } finally {
    feed.close();
    session.close();
    await sendingHints;
  }
}

async function sendHints(feed: HintFeed, session: WebSocketSession, send: Send): Promise<void> {
  for await (const event of feed) {
    if ('beat' in event) session.ping();
    await send(event);
    if ('refused' in event) session.close();
  }
}

/** Reads the first message. Undefined if the session ended before it. */
async function readOpening(
  session: WebSocketSession,
): Promise<{ token: string; device: string } | { refused: SyncRefusal } | undefined> {
  const first = await session.next();
  if (!first) return undefined;
  first.end();
  if (first.refused) return busy(first.refused);
  const { token, device } = membersOf(membersOf(tryJson(first.text))['open']);
  if (typeof token !== 'string' || typeof device !== 'string') return { refused: NOT_OPENED };
  const refused = session.countFor(token);
  return refused ? busy(refused) : { token, device };
}

/** `code` is a code of the HTTP API instead of one of sync: the device waits and retries. */
const busy = ({ code, message, retryAfterSeconds }: AdmissionRefusal) => ({
  refused: { code, description: message },
  retryAfterSeconds,
});

/** @returns undefined if the message is not a request @throws errors of the hub */
async function replyTo(
  { text, refused }: SessionMessage,
  token: string,
  sync: SyncHub,
): Promise<SocketReply | undefined> {
  if (refused) return { n: numberIn(text), ...busy(refused) };
  const { n, push } = membersOf(tryJson(text));
  if (typeof n !== 'number' || push === undefined) return undefined;
  const pushed = await sync.push(token, push).catch(refusalIn);
  return isSyncRefusal(pushed) ? { n, refused: pushed } : { n, pushed };
}

/** For example, the disk of the database is full. The device waits and retries, as for `busy()`. @throws `reason` if it is not a `Refusal` */
function refusalIn(reason: unknown): SyncRefusal {
  if (!(reason instanceof Refusal)) throw reason;
  return { code: reason.code, description: reason.message };
}

const NOT_OPENED: SyncRefusal = {
  code: 'bad_message',
  description: 'The first message must be `open` with a token and a device.',
};

function numberIn(text: string): number {
  const { n } = membersOf(tryJson(text));
  return typeof n === 'number' ? n : 0;
}
