/** All writes of a push: they wait for the same commits, and what cannot be judged keeps back those behind it. */
import { Refusal } from '../../../errors.ts';
import type { Push } from '../../protocol/messages.ts';
import type { PushItem, Verdict } from '../../protocol/writes.ts';
import { askerOf, type AskerHost, type Exchange } from '../rights/device-caller.ts';
import { attemptWrite, WriteTrouble, type Offer, type PushHost } from './push.ts';

type Host = PushHost & AskerHost;

/** @returns verdicts as far as there are any; none when the first is to be sent again @throws SyncRefused, and as the store fails */
export async function judgeAll(
  { device, epoch, settled, items }: Push,
  whose: Pick<Offer, 'database' | 'owner' | 'exchange'>,
  host: Host,
): Promise<readonly Verdict[]> {
  const read = await Promise.all(items.map((item) => readLong(item, host)));
  const ended = await Promise.allSettled(
    items.map((item, i) => {
      const previous = items[i - 1]?.hash;
      const parsed = read[i];
      return judgeOne({ item, previous, parsed, device, epoch, settled, ...whose }, host);
    }),
  );
  const verdicts: Verdict[] = [];
  for (const each of ended) {
    if (each.status === 'fulfilled') verdicts.push(each.value);
    else if (verdicts.length > 0 || each.reason instanceof WriteTrouble) break;
    else await explain(each.reason, whose.exchange, host);
  }
  return verdicts;
}

const readLong = async ({ query, apiVersion }: PushItem, { transactions }: Host) =>
  transactions.readLong({ query, apiVersion });

async function judgeOne(offer: Offer, host: Host): Promise<Verdict> {
  try {
    const { value } = await host.transactions.write(attemptWrite(offer, host));
    return value;
  } catch (reason) {
    if (reason instanceof WriteTrouble) host.troubles.note(offer);
    throw reason;
  }
}

/** Who is refused by the engine is told why. */
async function explain(reason: unknown, exchange: Exchange, host: Host): Promise<never> {
  if (reason instanceof Refusal && reason.code === 'unauthorized') {
    await host.transactions.read((input) => {
      askerOf(exchange, input, input.writer, host);
      return { value: undefined, ts: input.head, keep: false };
    });
  }
  throw reason;
}
