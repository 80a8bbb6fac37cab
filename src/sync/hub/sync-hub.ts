/** The hub's side of a sync: what each exchange asks, answered over an engine whose store is the truth. Any transport carries it. */
import type { CommitNotice } from '../../engine/host.ts';
import type { Engine } from '../../engine/engine.ts';
import type { DatabaseId, Micros } from '../../values/value.ts';
import { keyOf } from '../../engine/documents.ts';
import { hashOf } from '../protocol/digest.ts';
import {
    REQUESTS,
    SYNC_PROTOCOL,
    type AnswerOf,
    type PiggybackedPull,
    type Checked,
    type Pulled,
    type Push,
    type Pushed,
    type RequestName,
    type Welcome,
} from '../protocol/messages.ts';
import { isSyncRefusal, readRequest, SyncRefused, type SyncRefusal } from '../protocol/refusals.ts';
import { deviceId, type DeviceId } from '../protocol/identifiers.ts';
import type { ChangeHint } from '../protocol/hints.ts';
import {
    actorOf,
    askerOf,
    expiryOf,
    ownerOf,
    passwordTimeOf,
    type AskerHost,
    type Exchange,
} from './rights/device-caller.ts';
import { bring, Courier, nextPull } from './hints/hint-sender.ts';
import { attemptCheck, CHECK_START, differingIn, type CheckSlice } from './pull/check.ts';
import { deviceIn, deviceRow, epochIn, requireDeviceIn, requireEpoch } from './rows/device-rows.ts';
import { Pokes } from './hints/change-hints.ts';
import { attemptPull, type PullHost } from './pull/pull.ts';
import { RecentChanges } from './pull/recent-changes.ts';
import { judgeAll } from './push/judge-push.ts';
import type { PushHost } from './push/push.ts';
import { isSameScope, joined, NO_SCOPE, scopeIn, scopeRow, type Scope } from './rights/scope.ts';
import { Troubles } from './push/failed-writes.ts';

export interface SyncHubOptions extends AskerHost {
  /** Of a store that has an epoch (`prepareEpoch`), and made with `logsChanges`. */
  readonly engine: Pick<Engine, 'transactions' | 'onCommit'>;
  /** Commits of this process and of others on the same store; those of `engine` when left out. */
  readonly onCommit?: (listener: (notice: CommitNotice) => void) => () => void;
  readonly queryTimeoutMs?: number;
  /** Lets what is under way go on: who waits for a hint gets it before who pushed is told what he knows. */
  readonly pause?: () => Promise<void>;
}

/** One handler for each request. Messages are taken as they came: JSON, of any shape. Rejects when the store fails, or the hub itself. */
type RequestHandlers = {
  [N in RequestName]: (secret: string, message: unknown) => Promise<AnswerOf<N> | SyncRefusal>;
};

export interface SyncHub extends RequestHandlers {
  subscribe(
    secret: string,
    device: unknown,
    onPoke: (poke: ChangeHint) => void,
  ): Promise<Subscription | SyncRefusal>;
  close(): void;
}

export interface Subscription {
  /** Undefined: the credential still opens it. */
  refusal(): Promise<SyncRefusal | undefined>;
  close(): void;
}

export const createSyncHub = (options: SyncHubOptions): SyncHub => new Hub(options);

/** A device that says hello every minute is not written down each time. */
const SEEN_STEP: Micros = 86_400 * 1_000_000;

class Hub implements SyncHub {
  private readonly options: SyncHubOptions;
  private readonly pokes = new Pokes();
  private readonly pushHost: PushHost & AskerHost;
  private readonly pullHost: PullHost;
  private readonly stop: () => void;

  constructor(options: SyncHubOptions) {
    this.options = options;
    const { engine, clock, sha256, queryTimeoutMs } = options;
    const { transactions } = engine;
    const troubles = new Troubles();
    this.pushHost = { ...options, transactions, clock, sha256, queryTimeoutMs, troubles };
    const listen = options.onCommit ?? ((listener) => engine.onCommit(listener));
    const recent = new RecentChanges();
    this.pullHost = { ...options, recent };
    this.stop = listen((notice) => {
      recent.note(notice);
      this.pokes.noteCommit(notice);
    });
  }

  close(): void {
    this.stop();
  }

  hello(secret: string, message: unknown): Promise<Welcome | SyncRefusal> {
    return answered(async () => {
      const hello = readRequest(REQUESTS.hello, message, 'hello');
      if (hello.protocol !== SYNC_PROTOCOL)
        throw new SyncRefused(
          'upgrade_needed',
          `This hub supports protocol ${SYNC_PROTOCOL} only.`,
        );
      const exchange = this.begin(secret);
      const { transactions } = this.options.engine;
      const { value } = await transactions.write((input) => {
        const { writer, head } = input;
        const asker = askerOf(exchange, input, writer, this.options);
        const { database } = asker.caller;
        const owner = ownerOf(asker.caller);
        const epoch = epochIn(writer);
        const known = deviceIn(writer, database, hello.device, owner);
        const lastSeq = known?.lastSeq ?? 0;
        if (hello.lastSeq < lastSeq)
          throw new SyncRefused(
            'client_regressed',
            `The device has made ${hello.lastSeq} writes, but the hub has processed ${lastSeq} of it.`,
          );
        const hubTime = exchange.started;
        const expiresAt = expiryOf(asker);
        const protocol = SYNC_PROTOCOL;
        const actor = actorOf(asker);
        const passwordSetAt = passwordTimeOf(asker);
        const welcome: Welcome = {
          protocol,
          device: hello.device,
          epoch,
          hubTime,
          lastSeq,
          actor,
          expiresAt,
          passwordSetAt,
        };
        const isNew = !known || hubTime - known.seen > SEEN_STEP;
        const record = { owner, lastSeq: 0, lastNow: 0, forgotten: 0, ...known, seen: hubTime };
        if (isNew) writer.put('sync', deviceRow(database, hello.device, record));
        return { value: welcome, ts: Math.max(hubTime, head) + 1, keep: isNew };
      });
      return value;
    });
  }

  push(secret: string, message: unknown): Promise<Pushed | SyncRefusal> {
    return answered(async () => {
      const push = readRequest(REQUESTS.push, message, 'push');
      for (const item of push.items)
        if (hashOf(item, this.options.sha256) !== item.hash)
          throw new SyncRefused(
            'bad_message',
            `The hash of write ${item.seq} does not match its contents.`,
          );
      const exchange = this.begin(secret);
      const { transactions } = this.options.engine;
      const { value } = await transactions.read((input) => {
        const { writer, head } = input;
        requireEpoch(writer, push.epoch);
        const { caller } = askerOf(exchange, input, writer, this.options);
        const owner = ownerOf(caller);
        const record = requireDeviceIn(writer, caller.database, push.device, owner);
        return { value: { database: caller.database, owner, record }, ts: head, keep: false };
      });
      const { record, ...whose } = value;
      this.pokes.notePush({ database: whose.database, device: push.device });
      const verdicts = await judgeAll(push, { ...whose, exchange }, this.pushHost);
      const pushed = { lastSeq: Math.max(record.lastSeq, verdicts.at(-1)?.seq ?? 0), verdicts };
      const brought = await this.broughtAfter(secret, push, whose.database).catch(() => undefined);
      if (brought) return { ...pushed, brought };
      this.pokes.notePush({ database: whose.database, device: push.device });
      return pushed;
    });
  }

  /** What the device will ask for next, when it is known how it will ask, and that is little. */
  private async broughtAfter(
    secret: string,
    { device, settled }: Push,
    database: DatabaseId,
  ): Promise<PiggybackedPull | undefined> {
    await this.options.pause?.();
    const next = this.pokes.nextPull({ database, device });
    return next && bring({ ...next, settled }, (message) => this.pull(secret, message));
  }

  pull(secret: string, message: unknown): Promise<Pulled | SyncRefusal> {
    return answered(async () => {
      const pull = readRequest(REQUESTS.pull, message, 'pull');
      const exchange = this.begin(secret);
      const { value } = await this.options.engine.transactions.read((input) =>
        attemptPull(pull, exchange, input, this.pullHost),
      );
      await this.keepScope(pull.device, value);
      this.pokes.notePull(pull.device, value, nextPull(pull, value.pulled));
      return value.pulled;
    });
  }

  check(secret: string, message: unknown): Promise<Checked | SyncRefusal> {
    return answered(async () => {
      const check = readRequest(REQUESTS.check, message, 'check');
      const held: CheckSlice['held'][number][] = [];
      for (let place = CHECK_START; ;) {
        const exchange = this.begin(secret);
        const at = place;
        const { value } = await this.options.engine.transactions.read((input) =>
          attemptCheck(check, at, exchange, input, this.options),
        );
        for (const each of value.held) held.push(each);
        await this.keepScope(check.device, value);
        if (!value.next) return differingIn(held, check.buckets);
        place = value.next;
      }
    });
  }

  /** Before the answer: a device that has met it must be told when what it rests on changes. */
  private async keepScope(
    device: DeviceId,
    { database, before, scope }: { database: number; before: Scope | undefined; scope: Scope },
  ): Promise<void> {
    if (isSameScope(before, scope)) return;
    const { engine, clock } = this.options;
    const now = clock();
    await engine.transactions.write(({ writer, head }) => {
      const present = scopeIn(writer, database, device);
      const next =
        isSameScope(present, before ?? NO_SCOPE) || !present ? scope : joined(present, scope);
      if (isSameScope(present, next)) return { value: undefined, ts: head, keep: false };
      writer.put('sync', scopeRow(database, device, next));
      return { value: undefined, ts: Math.max(now, head) + 1, keep: true };
    });
  }

  subscribe(
    secret: string,
    device: unknown,
    onPoke: (poke: ChangeHint) => void,
  ): Promise<Subscription | SyncRefusal> {
    return answered(async () => {
      const id = readRequest(deviceId, device, 'device');
      const find = async () => {
        const exchange = this.begin(secret);
        const { value } = await this.options.engine.transactions.read((input) => {
          const { caller } = askerOf(exchange, input, input.writer, this.options);
          const { database, document, identity } = caller;
          requireDeviceIn(input.writer, database, id, ownerOf(caller));
          const own = [document, identity].flatMap((ref) => (ref ? keyOf(ref) : []));
          return { value: { database, own }, ts: input.head, keep: false };
        });
        return value;
      };
      const whose = { ...(await find()), device: id };
      const courier = new Courier({
        nextPull: () => this.pokes.nextPull(whose),
        pull: (message) => this.pull(secret, message),
        onPoke,
      });
      const close = this.pokes.listen({ ...whose, onPoke: (poke) => courier.note(poke) });
      const refusal = async (): Promise<SyncRefusal | undefined> => {
        const found = await answered(find);
        return isSyncRefusal(found) ? found : undefined;
      };
      return { refusal, close };
    });
  }

  private begin(secret: string): Exchange {
    return { secret, started: this.options.clock() };
  }
}

async function answered<T extends object>(body: () => Promise<T>): Promise<T | SyncRefusal> {
  try {
    return await body();
  } catch (reason) {
    if (reason instanceof SyncRefused) return reason.refusal;
    throw reason;
  }
}
