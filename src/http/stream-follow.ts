/**
 * Emits the changes that commits made to the target of a stream. For each commit that may concern it, the follower queries the changes
 * with the secret of the stream, so it emits nothing that the secret may not read. It finds changes by their times, so it misses none even
 * if notices of commits are lost. Spec: auth 5.
 */
import { documentKeyOf, decodeHistoryKey } from '../codec/key.ts';
import { stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import type { CommitNotice, QueryAnswer, ReadSet } from '../engine/host.ts';
import type { Micros } from '../values/value.ts';
import type { ReceivedRequest } from './answer-query.ts';
import { followsOn, type Commits } from './stream-commits.ts';
import {
  deletionEvent,
  deletionsQuery,
  entriesQuery,
  entryEvents,
  foundDeletions,
  foundVersion,
  onlyFields,
  removedVersionEvent,
  tsOf,
  versionEvent,
  versionQuery,
  type StreamField,
} from './stream-events.ts';
import {
  addToPast,
  endsWith,
  pastQuery,
  readPast,
  historyRewriteBetween,
  type KnownPast,
} from './stream-past.ts';
import type { StreamTarget } from './stream-target.ts';
import { Changes } from './changes.ts';

/** An error that ends the stream. */
class StreamFault extends Error {
  readonly code: string;
  constructor(code: string, description: string) {
    super(description);
    this.code = code;
  }
}

/** Programs compare this text, so it must not change. */
const LOST = 'Authorization lost during stream evaluation.';

const INTERNAL = {
  code: 'internal server error',
  message: 'Internal error in the database; the stream has ended.',
};

const frame = (type: string, txn: Micros, event: Json): string =>
  `{"type":"${type}","txn":${txn},"event":${stringifyJson(event)}}\r\n`;

export interface Followed {
  readonly target: StreamTarget;
  readonly fields: ReadonlySet<StreamField>;
  readonly start: Micros;
  /**
   * The last commit that the opening query saw. A later commit may have a time before `start`: it was under way then, or comes from a tab
   * whose clock differs.
   */
  readonly head: Micros;
}

/** A version of the followed document, or its deletion. */
interface Happened {
  readonly ts: Micros;
  readonly event: JsonObject;
}

/** A stream ends with an error if it has more versions than this to emit at once. */
const BEHIND_MAX = 1000;

/**
 * Refusals of the follower's own queries that mean that there is nothing to read: a copy does not have the history, or the time is before
 * the retained history. The queries have no other fault that could cause these codes.
 */
const NOTHING_TO_READ: ReadonlySet<string> = new Set(['history_not_local', 'bad request']);

export class Follower {
  private readonly call: ReceivedRequest;
  private readonly followed: Followed;
  /** All changes up to this time have been emitted. */
  private seen: Micros;
  private watched: readonly ReadSet[] = [];
  private rights: string | undefined = undefined;
  /** The history as last read. Undefined if the secret may not read the history. */
  private past: KnownPast | undefined = undefined;

  constructor(call: ReceivedRequest, followed: Followed) {
    this.call = call;
    this.followed = followed;
    this.seen = followed.head;
  }

  async *frames(commits: Commits): AsyncGenerator<string> {
    const { start, target } = this.followed;
    try {
      await this.watch();
      if (target.of === 'document') this.past = await this.readPast(target.wire, this.seen);
      yield frame('start', start, start);
      for (;;) {
        const notice = await commits.next();
        if (!notice) return;
        if (notice.ts > this.seen) yield* this.framesOf(notice);
      }
    } catch (reason) {
      if (!(reason instanceof StreamFault)) this.call.host.report?.(reason);
      const { code, message } = reason instanceof StreamFault ? reason : INTERNAL;
      const event = new Map([
        ['code', code],
        ['description', message],
      ]);
      yield frame('error', 0, event);
    }
  }

  private async *framesOf(notice: CommitNotice): AsyncGenerator<string> {
    const { target } = this.followed;
    const changes = new Changes([notice]);
    const isTouched = this.watched.some((watched) => changes.touches(watched));
    if (isTouched || !followsOn(notice, this.seen)) {
      await this.watch();
      if (target.of === 'document') yield* this.framesOfDocument(target.wire, notice);
      else yield* this.framesOfSet(target, notice.ts);
    }
    this.seen = notice.ts;
  }

  // --- documents --------------------------------------------------------------------------------

  private async *framesOfDocument(ref: string, notice: CommitNotice): AsyncGenerator<string> {
    const { fields } = this.followed;
    const happened = await this.happenedUntil(ref, notice.ts);
    for await (const event of this.rewriteEvents(ref, notice, happened))
      yield frame('history_rewrite', notice.ts, onlyFields(event, fields));
    if (this.past) for (const { ts, event } of happened) addToPast(this.past, ts, event);
    for (const { ts, event } of happened) yield frame('version', ts, onlyFields(event, fields));
  }

  /** Versions and deletions after `seen` up to `last`, oldest first. */
  private async happenedUntil(ref: string, last: Micros): Promise<readonly Happened[]> {
    const happened: Happened[] = [];
    let deletions: readonly Micros[] | undefined;
    for (let ts = last; ts > this.seen;) {
      if (happened.length >= BEHIND_MAX)
        throw new StreamFault(
          'too many requests',
          'The stream was closed because it was read too slowly.',
        );
      const { now, before } = await this.versionAt(ref, ts);
      if (now) {
        if (tsOf(now) <= this.seen) break;
        ts = tsOf(now);
        happened.push({ ts, event: versionEvent(now, before) });
        if (before && tsOf(before) <= this.seen) break;
      } else {
        deletions ??= foundDeletions(
          (await this.ask(deletionsQuery(ref, this.seen)))?.body ?? '{}',
        );
        const deletedAt = deletions.findLast((each) => each <= ts);
        if (deletedAt === undefined) break;
        ts = deletedAt;
        const { now: gone } = await this.versionAt(ref, deletedAt - 1);
        if (gone) happened.push({ ts, event: deletionEvent(gone, deletedAt) });
      }
      ts -= 1;
    }
    return happened.reverse();
  }

  private async versionAt(ref: string, ts: Micros) {
    const answer = await this.ask(versionQuery(ref, ts));
    return answer ? foundVersion(answer.body) : { now: null, before: null };
  }

  /** Events of `insert` and `remove`, which rewrite the history. */
  private async *rewriteEvents(
    ref: string,
    notice: CommitNotice,
    happened: readonly Happened[],
  ): AsyncGenerator<JsonObject> {
    const known = this.past;
    if (!known || !this.isHistoryRewrite(notice, happened, known)) return;
    const past = await this.readPast(ref, notice.ts);
    this.past = past;
    if (!past) return;
    const { put, taken } = historyRewriteBetween(
      known,
      past,
      new Set(happened.map(({ ts }) => ts)),
    );
    for (const { ts, action } of taken) {
      // Versions before the start of the retained history were not removed by a query.
      const isRetained = await this.ask(`{"at":${ts},"expr":{"exists":${ref}}}`);
      if (isRetained) yield removedVersionEvent(ref, ts, action);
    }
    for (const ts of put) {
      const { now, before } = await this.versionAt(ref, ts);
      if (now && tsOf(now) === ts) yield versionEvent(now, before);
      const gone = now ? null : (await this.versionAt(ref, ts - 1)).now;
      if (gone) yield deletionEvent(gone, ts);
    }
  }

  /** Whether a commit changed more of the history than a new version or a deletion does. */
  private isHistoryRewrite(
    notice: CommitNotice,
    happened: readonly Happened[],
    known: KnownPast,
  ): boolean {
    const [first] = happened;
    if (!followsOn(notice, this.seen)) return true;
    if (first && !endsWith(known, first.event.get('prev'))) return true;
    const expected = new Set<Micros>();
    for (const { ts, event } of happened) {
      const before = event.get('prev');
      expected.add(ts);
      if (before instanceof Map) expected.add(tsOf(before));
    }
    return this.ownRowsIn(notice).some(({ space, key }) =>
      space === 'documents' ? happened.length === 0 : !expected.has(decodeHistoryKey(key).ts),
    );
  }

  /** The changed rows of the followed documents and of their history. */
  private ownRowsIn({ rows }: CommitNotice): CommitNotice['rows'] {
    const read = this.watched.flatMap((each) => each.rows);
    const own = new Set(read.flatMap(({ space, key }) => (space === 'documents' ? [key] : [])));
    return rows.filter(
      ({ space, key }) =>
        (space === 'documents' && own.has(key)) ||
        (space === 'history' && own.has(documentKeyOf(key))),
    );
  }

  /**
   * Reads the history of the document. Undefined if the secret may not read it.
   * @param last versions that later commits added are left out, because they are emitted with those commits. Versions after the head are
   * kept: a query has inserted them in the future.
   */
  private async readPast(ref: string, last: Micros): Promise<KnownPast | undefined> {
    const answer = await this.ask(pastQuery(ref));
    if (!answer) return undefined;
    const { head = 0 } = answer;
    const past = await readPast(answer.body, async (ts) =>
      (await this.versionAt(ref, ts)).now?.get('data'),
    );
    for (const ts of past.versions.keys())
      if (ts > last && ts <= head && !this.past?.versions.has(ts)) past.versions.delete(ts);
    return past;
  }

  // --- sets -------------------------------------------------------------------------------------

  private async *framesOfSet(
    target: Extract<StreamTarget, { readonly of: 'set' }>,
    last: Micros,
  ): AsyncGenerator<string> {
    const { fields } = this.followed;
    let after: Json | undefined = this.seen + 1;
    while (after !== undefined) {
      const answer = await this.ask(entriesQuery(target.wire, stringifyJson(after)));
      if (!answer) return;
      const { events, next } = entryEvents(answer.body, last, target);
      for (const { ts, event } of events) yield frame('set', ts, onlyFields(event, fields));
      after = next;
    }
  }

  // --- rights -----------------------------------------------------------------------------------

  /**
   * Checks the secret again, and reads what the target and the permission to see it depend on: only a commit that changes one of these
   * facts is relevant.
   */
  private async watch(): Promise<void> {
    const { host, secret = '' } = this.call;
    const entitlements = await host.engine.entitlements(secret);
    if (!entitlements || (this.rights !== undefined && this.rights !== entitlements.rights))
      throw new StreamFault('permission denied', LOST);
    this.rights = entitlements.rights;
    const answer = await this.ask(`{"exists":${this.followed.target.wire}}`);
    this.watched = [entitlements.readSet, ...(answer ? [answer.readSet] : [])];
  }

  /** Executes a query with the secret of the stream. Undefined if the secret may not read its result: the stream then emits nothing. */
  private async ask(query: string): Promise<QueryAnswer | undefined> {
    const { host, options, secret } = this.call;
    const { apiVersion } = options;
    const answer = await host.engine.query({
      secret,
      query,
      apiVersion,
      allows: 'read',
    });
    const { refusal } = answer;
    if (refusal === 'unauthorized') throw new StreamFault('permission denied', LOST);
    // The query was not executed, so its changes would be missed: the stream ends.
    if (refusal && !NOTHING_TO_READ.has(refusal)) throw new StreamFault(refusal, INTERNAL.message);
    return answer.status < 300 ? answer : undefined;
  }
}
