/** Sync over a line: pushes and their answers, and hints meanwhile. All else is asked by requests of its own. */
import type { LineReply, SyncRefusal } from '../../src/sync/protocol.ts';
import { isSyncRefusal, type SyncHub } from '../../src/sync/hub/sync-hub.ts';
import type { Line } from '../http/route.ts';
import { PokeFeed } from './hint-feed.ts';

type Members = Readonly<Record<string, unknown>>;

/** Ends with the credential, which is looked at with every heartbeat, and with the line. */
export async function serveSyncLine(sync: SyncHub, line: Line, heartbeatMs: number): Promise<void> {
  const tell = (reply: LineReply): Promise<void> => line.send(JSON.stringify(reply));
  const whose = await openerOf(line);
  if (!whose) return;
  if ('refused' in whose) return tell(whose);
  const { token, device } = whose;
  const feed = new PokeFeed(heartbeatMs, () => subscription.refusal());
  const found = await sync.subscribe(token, device, (poke) => feed.poke(poke));
  if (isSyncRefusal(found)) return tell({ refused: found });
  const subscription = found;
  feed.onClose(() => subscription.close());
  line.signal.addEventListener('abort', () => feed.close(), { once: true });
  if (line.signal.aborted) feed.close();
  feed.start();
  await tell({ opened: true });
  const telling = tellAll(feed, line, tell);
  try {
    for (let call = await line.next(); call; call = await line.next()) {
      const reply = call.refused
        ? { n: numberIn(call.text), ...busy(call.refused) }
        : await replyTo(call.text, token, sync);
      call.end();
      if (!reply) break;
      await tell(reply);
    }
  } finally {
    feed.close();
    line.close();
    await telling;
  }
}

async function tellAll(
  feed: PokeFeed,
  line: Line,
  tell: (reply: LineReply) => Promise<void>,
): Promise<void> {
  for await (const event of feed) {
    if ('beat' in event) line.probe();
    await tell(event);
    if ('refused' in event) line.close();
  }
}

/** Undefined: it ended before it said anything. */
async function openerOf(
  line: Line,
): Promise<{ token: string; device: string } | { refused: SyncRefusal } | undefined> {
  const first = await line.next();
  if (!first) return undefined;
  first.end();
  const { token, device } = membersOf(membersOf(messageIn(first.text))['open']);
  if (typeof token !== 'string' || typeof device !== 'string') return { refused: NO_MESSAGE };
  const refused = line.claim(token);
  return refused ? busy(refused) : { token, device };
}

/** Words of HTTP where words of sync are expected: the device waits, and tries again. */
const busy = ({
  code,
  description,
  retryAfterSeconds,
}: NonNullable<ReturnType<Line['claim']>>) => ({
  refused: { code, description } as unknown as SyncRefusal,
  retryAfterSeconds,
});

/** Undefined: what was said is no call. @throws as the store fails, or the hub itself */
async function replyTo(text: string, token: string, sync: SyncHub): Promise<LineReply | undefined> {
  const message = messageIn(text);
  const { n, push } = membersOf(message);
  if (typeof n !== 'number' || push === undefined) return undefined;
  const answer = await sync.push(token, push);
  return isSyncRefusal(answer) ? { n, refused: answer } : { n, pushed: answer };
}

const NO_MESSAGE: SyncRefusal = { code: 'bad_message', description: 'A line begins with `open`.' };

function messageIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};

function numberIn(text: string): number {
  const { n } = membersOf(messageIn(text));
  return typeof n === 'number' ? n : 0;
}
