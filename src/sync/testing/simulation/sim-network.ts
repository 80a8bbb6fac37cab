/** The network between a device and the hub. It loses, duplicates, delays and reorders messages, and the hub may be overloaded. */
import { requestsBy, type HubAnswer, type Transport } from '../../device/syncer/transport.ts';
import type { SyncHub } from '../../hub/sync-hub.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { changeHint } from '../../protocol/hints.ts';
import {
  ANSWERS,
  type AnswerOf,
  type RequestName,
  type RequestOf,
} from '../../protocol/messages.ts';
import { isSyncRefusal, type SyncRefusal } from '../../protocol/refusals.ts';
import type { Chance, Clockwork } from './clockwork.ts';
import { StoreTrouble, type Process } from './processes.ts';
import type { SimHub } from './sim-hub.ts';

export interface NetworkFaults {
  loss: number;
  duplication: number;
  delayMs: number;
  /** Share of answers that come very late. */
  lateness: number;
  /** Streams get no heartbeats, so that devices close them after a while. */
  isSilent: boolean;
}

/** The device's end of the network. */
export interface Link {
  isUp: boolean;
  /** The stream stays open, but no hints come over it. */
  losesHints: boolean;
  secret: string;
}

export interface NetworkOptions {
  readonly hub: SimHub;
  readonly chance: Chance;
  readonly clockwork: Clockwork;
  readonly network: NetworkFaults;
  readonly count: (what: string) => void;
  readonly tell: (what: () => string) => void;
  /** Called with every message, as text. */
  readonly onMessage: (text: string) => void;
}

/** No answer came. */
export class Lost extends Error {}

const TIMEOUT_MS = 10_000;

export function transportOver(link: Link, process: Process, options: NetworkOptions): Transport {
  const { hub } = options;
  const ask = async <N extends RequestName>(
    what: N,
    message: RequestOf<N>,
  ): Promise<HubAnswer<AnswerOf<N>>> => {
    const sent = copied(message, options);
    const { secret } = link;
    const run = (sync: SyncHub): Promise<object> => sync[what](secret, sent);
    options.tell(() => `${what} ${briefly(message)}`);
    const answer = read(what, await exchange(link, what, run, options));
    options.tell(() => `${what} brings ${briefly(answer)}`);
    await process.pass(`${what} answer received`);
    return answer;
  };
  return {
    ...requestsBy(ask),
    listen: (device, { onHint, onActivity, onEnd }) => {
      let stop = (): void => undefined;
      let isOver = false;
      const running = hub.asked;
      const isOpen = (): boolean => link.isUp && running?.process.isAlive === true;
      const beat = (): void => {
        if (isOver || !process.isAlive) return;
        if (isOpen()) onActivity();
        options.clockwork.after(SYNC_LIMITS.heartbeatMs, beat);
      };
      void running?.sync
        .subscribe(link.secret, device, (poke) => {
          if (!isOpen()) return;
          if (link.losesHints || options.chance.is(options.network.loss)) {
            options.count('poke lost');
            return;
          }
          const sent = changeHint(copied(poke, options), 'poke');
          options.count('brought' in sent ? 'poke that brings' : 'poke');
          options.clockwork.after(options.chance.next() * options.network.delayMs, () => {
            if (!isOver && process.isAlive) onHint(sent);
          });
        })
        .then((subscription) => {
          if (isSyncRefusal(subscription)) onEnd();
          else if (isOver) subscription.close();
          else {
            stop = () => subscription.close();
            if (!options.network.isSilent) beat();
          }
        })
        .catch(() => onEnd());
      return () => {
        isOver = true;
        stop();
      };
    },
  };
}

/** Validates an answer, as a transport does. */
const read = <N extends RequestName>(name: N, answer: HubAnswer<unknown>): HubAnswer<AnswerOf<N>> =>
  answer.ok ? { ...answer, value: ANSWERS[name](answer.value, name) } : answer;

/** A request and its answer. Both may be lost, so a request that the hub has processed may look like one that it has not. */
async function exchange<T extends object>(
  link: Link,
  what: string,
  run: (hub: SyncHub) => Promise<T | SyncRefusal>,
  options: NetworkOptions,
): Promise<HubAnswer<T>> {
  const { clockwork, chance, network, hub, count } = options;
  await clockwork.sleep(chance.next() * network.delayMs);
  const running = hub.asked;
  if (!link.isUp || !running || chance.is(network.loss)) {
    count('request lost');
    await clockwork.sleep(1000);
    throw new Lost('the request was lost');
  }
  const isBusy = hub.busyUntil > clockwork.now && refuseBusy(options);
  if (isBusy) return isBusy;
  if (chance.is(network.duplication)) {
    count('request duplicated');
    clockwork.after(chance.next() * 5000, () => {
      const other = hub.asked;
      if (other) void served(other, what, run).catch(() => undefined);
    });
  }
  const answered = served(running, what, run).catch((reason: unknown) => {
    if (!(reason instanceof StoreTrouble)) throw reason;
    throw new Lost('the hub answered 500');
  });
  const timeout = clockwork.sleep(TIMEOUT_MS).then(() => 'timeout' as const);
  const answer = await Promise.race([answered, timeout]);
  if (answer === 'timeout' || !link.isUp || chance.is(network.loss)) {
    count('answer lost');
    throw new Lost('the answer was lost');
  }
  const isLate = chance.is(network.lateness);
  if (isLate) count('answer late');
  await clockwork.sleep(chance.next() * (isLate ? TIMEOUT_MS : network.delayMs));
  const value = copied(answer, options);
  return isSyncRefusal(value) ? { ok: false, refusal: value } : { ok: true, value };
}

async function served<T>(
  { process, sync }: NonNullable<SimHub['running']>,
  what: string,
  run: (hub: SyncHub) => Promise<T>,
): Promise<T> {
  await process.pass(`hub ${what} received`);
  const answer = await process.during(`hub ${what}`, () => run(sync));
  await process.pass(`hub ${what} answered`);
  return answer;
}

/** A 503 may come from a proxy and counts as no answer; a 429 is an answer. */
function refuseBusy({ chance, count }: NetworkOptions): HubAnswer<never> {
  if (chance.is(0.5)) {
    count('answer 503');
    throw new Lost('the hub answered 503');
  }
  count('answer 429');
  const refusal = { code: 'too many requests', description: 'Too many requests.' };
  return { ok: false, refusal, retryAfterMs: 500 };
}

/** Shows arrays by their length, and shortens texts. */
function briefly(message: object): string {
  const shorter = (name: string, value: unknown): unknown =>
    Array.isArray(value) && name !== 'sets'
      ? value.length
      : typeof value === 'string'
        ? value.slice(0, 20)
        : name === 'actor' || name === 'query'
          ? undefined
          : value;
  return JSON.stringify(message, shorter);
}

/** A copy, made by JSON. */
function copied<T extends object>(message: T, { onMessage }: NetworkOptions): T {
  const text = JSON.stringify(message);
  onMessage(text);
  return JSON.parse(text) as T;
}
