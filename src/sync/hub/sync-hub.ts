/** The hub's side of sync: one handler per request, over an engine with the authoritative data. Independent of the transport. */
import type { CommitNotice } from '../../engine/host.ts';
import type { BodyInput } from '../../engine/transactions.ts';
import type { Engine } from '../../engine/engine.ts';
import { keyOf } from '../../engine/documents.ts';
import type { DatabaseId } from '../../values/value.ts';
import { TurnOver } from '../../query/turn-over.ts';
import { hashOf } from '../protocol/digest.ts';
import type { ChangeHint } from '../protocol/hints.ts';
import { deviceId, type DatedDocument, type DeviceId } from '../protocol/identifiers.ts';
import {
  REQUESTS,
  type AnswerOf,
  type PiggybackedPull,
  type Pull,
  type Push,
  type RequestName,
} from '../protocol/messages.ts';
import { isSyncRefusal, readRequest, SyncRefused, type SyncRefusal } from '../protocol/refusals.ts';
import { hello, requireProtocol } from './hello.ts';
import { ChangeHints, type PullRead } from './hints/change-hints.ts';
import { HintSender, piggybackedPull } from './hints/hint-sender.ts';
import { SharedPulls } from './hints/shared-pulls.ts';
import { Turns } from './hints/turns.ts';
import { CHECK_START, checkSlice, differencesFrom } from './pull/check.ts';
import type { PullHost } from './pull/pull-context.ts';
import { pull } from './pull/pull.ts';
import { RecentChanges } from './pull/recent-changes.ts';
import { withoutKnownSets } from './pull/changed-sets.ts';
import { FailedWrites } from './push/failed-writes.ts';
import { judgePush } from './push/judge-push.ts';
import type { LongPushes, PushHost, WatchedWrites } from './push/offered-write.ts';
import { ownerOf } from './rights/caller-facts.ts';
import { callerOfDevice, type CallerHost, type DeviceRequest } from './rights/device-caller.ts';
import { keepScope } from './rights/keep-scope.ts';
import { requireDeviceIn } from './rows/device-rows.ts';
import { requireEpoch } from './rows/epoch.ts';

export interface SyncHubOptions extends CallerHost {
  /** Needs a store with an epoch and an id key (`prepareEpoch`, `prepareIdKey`). Created with `logsChanges`. */
  readonly engine: Pick<Engine, 'transactions' | 'onCommit'>;
  /** Subscribes to commits of this process and of others on the same store. If absent, to those of `engine`. */
  readonly onCommit?: (listener: (notice: CommitNotice) => void) => () => void;
  readonly queryTimeoutMs?: number;
  /** Processes pushes with long writes. If absent, they are processed here. */
  readonly longPushes?: LongPushes | undefined;
  readonly watchedWrites?: WatchedWrites;
  /** Receives the time for which reads of a device were evaluated here. */
  readonly recordTime?: ((secret: string, ms: number) => void) | undefined;
  /** Yields to other work, so that devices waiting for a hint get it before the device that pushed gets its answer. */
  readonly pause?: () => Promise<void>;
}

/** One handler per request. `message` is any JSON and is validated. Rejects if the store or the hub itself fails. */
type RequestHandlers = {
  [N in RequestName]: (secret: string, message: unknown) => Promise<AnswerOf<N> | SyncRefusal>;
};

export interface PullForOther {
  readonly pulled: AnswerOf<'pull'>;
  readonly read: PullRead;
}

export interface Subscription {
  /** Called with every heartbeat. Returns why the device may no longer listen; undefined while the credential is valid. */
  refusal(): Promise<SyncRefusal | undefined>;
  close(): void;
}

export class SyncHub implements RequestHandlers {
  private readonly options: SyncHubOptions;
  private readonly hints = new ChangeHints();
  private readonly sharedPulls: SharedPulls;
  private readonly turns: Turns;
  private readonly pushHost: PushHost & CallerHost;
  private readonly pullHost: PullHost;
  private readonly stopListening: () => void;

  constructor(options: SyncHubOptions) {
    this.options = options;
    const { engine, clock, random, sha256, queryTimeoutMs } = options;
    const { transactions } = engine;
    const failedWrites = new FailedWrites();
    this.pushHost = { ...options, transactions, clock, sha256, queryTimeoutMs, failedWrites };
    const recent = new RecentChanges();
    this.pullHost = { ...options, recent };
    this.turns = new Turns(options.pause);
    this.sharedPulls = new SharedPulls({
      hints: this.hints,
      clock,
      random,
      evaluate: (secret, message) => this.evaluatePull(secret, message),
    });
    const listen = options.onCommit ?? ((listener) => engine.onCommit(listener));
    this.stopListening = listen((notice) => {
      recent.onCommit(notice);
      this.sharedPulls.onCommit();
      this.hints.onCommit(notice);
    });
  }

  close(): void {
    this.stopListening();
  }

  // --- requests -----------------------------------------------------------------------------------

  hello(secret: string, message: unknown) {
    return answerOrRefusal(async () => {
      const greeting = readRequest(REQUESTS.hello, message, 'hello');
      requireProtocol(greeting);
      const request = this.begin(secret);
      const body = (input: BodyInput) => hello(greeting, request, input, this.pullHost);
      const { value: read } = await this.transactions.read(body);
      if (!read.hasNews) return read.welcome;
      const written = this.transactions.write(body).catch((reason: unknown) => {
        // A hub that can store nothing still answers the devices that it has met.
        if (read.isKnown) return { value: read };
        throw reason;
      });
      return (await written).value.welcome;
    });
  }

  push(secret: string, message: unknown) {
    return answerOrRefusal(async () => {
      const push = readRequest(REQUESTS.push, message, 'push');
      for (const item of push.items)
        if (hashOf(item, this.options.sha256) !== item.hash)
          throw new SyncRefused(
            'bad_message',
            `The hash of write ${item.seq} does not match its contents.`,
          );
      const request = this.begin(secret);
      const { database, owner, record } = await this.pusherOf(push, request);
      const device = { database, device: push.device };
      this.hints.onPush(device);
      try {
        const judged = await this.judge(push, { database, owner, request });
        if (isSyncRefusal(judged)) return judged;
        const { verdicts } = judged;
        const pushed = { lastSeq: Math.max(record.lastSeq, verdicts.at(-1)?.seq ?? 0), verdicts };
        const pull = await this.pullAfter(secret, push, database).catch(() => undefined);
        if (pull) return { ...pushed, brought: pull };
        this.hints.onPush(device);
        return pushed;
      } finally {
        this.hints.onPushed(device);
      }
    });
  }

  pull(secret: string, message: unknown) {
    return answerOrRefusal(async () => {
      const asked = readRequest(REQUESTS.pull, message, 'pull');
      return withoutKnownSets(asked, (await this.evaluatePull(secret, asked)).outcome.pulled);
    });
  }

  /** Evaluates a pull for another hub on the same store, which answers the device and sends it hints. */
  pullForOther(secret: string, message: unknown): Promise<PullForOther | SyncRefusal> {
    return answerOrRefusal(async () => {
      const asked = readRequest(REQUESTS.pull, message, 'pull');
      const { outcome } = await this.evaluatePull(secret, asked);
      const { database, sets, scope, sharedRights } = outcome;
      const { puts: _puts, leaves: _leaves, verdicts: _verdicts, ...pulled } = outcome.pulled;
      const read = { database, sets, scope, sharedRights, pulled };
      return { pulled: withoutKnownSets(asked, outcome.pulled), read };
    });
  }

  /** Another hub has evaluated this pull for this one. */
  onPulledElsewhere(secret: string, message: unknown, read: PullRead): void {
    this.hints.onPull(readRequest(REQUESTS.pull, message, 'pull'), read, secret);
  }

  check(secret: string, message: unknown) {
    return answerOrRefusal(async () => {
      const check = readRequest(REQUESTS.check, message, 'check');
      const documents: DatedDocument[] = [];
      for (let position = CHECK_START; ;) {
        const request = this.begin(secret);
        const at = position;
        const { value } = await this.transactions.read((input) =>
          this.timed(secret, () => checkSlice(check, at, request, input, this.options)),
        );
        for (const each of value.documents) documents.push(each);
        await keepScope(this.pushHost, check.device, value);
        const { pause } = this.options;
        if (!value.next) return differencesFrom(documents, check.buckets, pause);
        position = value.next;
        await pause?.();
      }
    });
  }

  // --- hints --------------------------------------------------------------------------------------

  subscribe(
    secret: string,
    device: unknown,
    onHint: (hint: ChangeHint) => void,
  ): Promise<Subscription | SyncRefusal> {
    return answerOrRefusal(async (): Promise<Subscription> => {
      const id = readRequest(deviceId, device, 'device');
      const find = () => this.listenerOf(id, this.begin(secret));
      const listener = { ...(await find()), device: id };
      const sender = new HintSender({
        nextPull: () => this.hints.standing(listener)?.next,
        isOnlyStream: () => this.hints.hasOneStream(listener),
        pull: (message) => this.sharedPulls.pull(secret, listener, message),
        turn: () => this.turns.next(),
        onHint,
      });
      const close = this.hints.listen({ ...listener, onHint: (hint) => sender.send(hint) });
      const refusal = async (): Promise<SyncRefusal | undefined> => {
        const found = await answerOrRefusal(find);
        if (isSyncRefusal(found)) return found;
        this.hints.onBeat(listener);
        return undefined;
      };
      return { refusal, close };
    });
  }

  /** The answer to the device's next pull, if the hub knows how the device will pull, and the answer is small. */
  private async pullAfter(
    secret: string,
    { device, settled }: Push,
    database: DatabaseId,
  ): Promise<PiggybackedPull | undefined> {
    await this.options.pause?.();
    const standing = this.hints.standing({ database, device });
    if (!standing) return undefined;
    const pull = async (message: Pull) => (await this.evaluatePull(secret, message)).outcome.pulled;
    return piggybackedPull({ ...standing.next, settled }, pull);
  }

  private async evaluatePull(secret: string, message: Pull) {
    const request = this.begin(secret);
    const { value: outcome } = await this.transactions.read((input) =>
      this.timed(secret, () => pull(message, request, input, this.pullHost)),
    );
    const isTold = message.sets.some(({ loaded }) => loaded === 'nothing');
    await keepScope(this.pushHost, message.device, { ...outcome, isTold });
    return { outcome, standing: this.hints.onPull(message, outcome, secret) };
  }

  private async judge(
    push: Push,
    from: Parameters<typeof judgePush>[1],
  ): Promise<Pick<AnswerOf<'push'>, 'verdicts'> | SyncRefusal> {
    const { longPushes } = this.options;
    try {
      return { verdicts: await judgePush(push, from, this.pushHost) };
    } catch (reason) {
      if (!(reason instanceof TurnOver) || !longPushes) throw reason;
      return longPushes.execute(from.request.secret, push);
    }
  }

  // --- callers ------------------------------------------------------------------------------------

  private pusherOf({ device, epoch }: Push, request: DeviceRequest) {
    return this.read((input) => {
      const { writer } = input;
      requireEpoch(writer, epoch);
      const { caller } = callerOfDevice(request, input, writer, this.options);
      const { database } = caller;
      const owner = ownerOf(caller);
      return { database, owner, record: requireDeviceIn(writer, database, device, owner) };
    });
  }

  private listenerOf(device: DeviceId, request: DeviceRequest) {
    return this.read((input) => {
      const { caller } = callerOfDevice(request, input, input.writer, this.options);
      const { database, document, identity } = caller;
      requireDeviceIn(input.writer, database, device, ownerOf(caller));
      const own = [document, identity].flatMap((ref) => (ref ? keyOf(ref) : []));
      return { database, own };
    });
  }

  private timed<T>(secret: string, evaluate: () => T): T {
    const { clock, recordTime } = this.options;
    if (!recordTime) return evaluate();
    const begun = clock();
    try {
      return evaluate();
    } finally {
      recordTime(secret, (clock() - begun) / 1000);
    }
  }

  private async read<T>(body: (input: BodyInput) => T): Promise<T> {
    const { value } = await this.transactions.read((input) => ({
      value: body(input),
    }));
    return value;
  }

  private get transactions() {
    return this.options.engine.transactions;
  }

  private begin(secret: string): DeviceRequest {
    return { secret, started: this.options.clock() };
  }
}

async function answerOrRefusal<T extends object>(body: () => Promise<T>): Promise<T | SyncRefusal> {
  try {
    return await body();
  } catch (reason) {
    if (reason instanceof SyncRefused) return reason.refusal;
    throw reason;
  }
}
