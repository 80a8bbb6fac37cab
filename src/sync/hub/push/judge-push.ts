/** Judges all writes of a push. They share commits; a write that cannot be judged blocks the writes after it. */
import { Refusal } from '../../../errors.ts';
import { TurnOver } from '../../../query/turn-over.ts';
import type { Push } from '../../protocol/messages.ts';
import type { Verdict } from '../../protocol/writes.ts';
import { callerOfDevice, type CallerHost, type DeviceRequest } from '../rights/device-caller.ts';
import { WriteFailed } from './execute-write.ts';
import { judgeWrite } from './judge-write.ts';
import type { OfferedWrite, PushHost } from './offered-write.ts';

type Host = PushHost & CallerHost;

/** @returns verdicts up to the first write without one; none if the first must be sent again @throws SyncRefused, TurnOver, store errors */
export async function judgePush(
  { device, epoch, settled, items }: Push,
  from: Pick<OfferedWrite, 'database' | 'owner' | 'request'>,
  host: Host,
): Promise<readonly Verdict[]> {
  const outcomes = await Promise.allSettled(
    items.map((item, i) => {
      const previous = items[i - 1]?.hash;
      const write = { item, previous, device, epoch, settled, ...from };
      return judgeOne(write, host);
    }),
  );
  // The writes before it are committed. When the push is executed elsewhere, they are found to have verdicts.
  for (const outcome of outcomes)
    if (outcome.status === 'rejected' && outcome.reason instanceof TurnOver) throw outcome.reason;
  const verdicts: Verdict[] = [];
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') verdicts.push(outcome.value);
    else if (verdicts.length > 0 || outcome.reason instanceof WriteFailed) break;
    else await explain(outcome.reason, from.request, host);
  }
  return verdicts;
}

async function judgeOne(write: OfferedWrite, host: Host): Promise<Verdict> {
  try {
    const line = host.longPushes?.lineOf(write.request.secret);
    const { value } = await host.transactions.write(judgeWrite(write, host), { line });
    return value;
  } catch (reason) {
    if (reason instanceof WriteFailed) host.failedWrites.add(write);
    throw reason;
  }
}

/** If the engine refuses the credential, throws the refusal that sync has for it. */
async function explain(reason: unknown, request: DeviceRequest, host: Host): Promise<never> {
  if (reason instanceof Refusal && reason.code === 'unauthorized') {
    await host.transactions.read((input) => {
      callerOfDevice(request, input, input.writer, host);
      return { value: undefined };
    });
  }
  throw reason;
}
