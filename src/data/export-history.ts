/**
 * Exports earlier versions of documents, and the versions of deleted documents, the oldest of each document first. They follow the
 * documents.
 */
import { stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import { DATA_LIMITS } from '../limits.ts';
import type { Ask } from './ask.ts';
import { documentsText, isObject, itemsOf, pageText } from './wire.ts';

export interface CollectionRead {
  readonly ask: Ask;
  /** Wire text of the time as of which everything is read. */
  readonly at: string;
  readonly collection: string;
}

export async function* versionLines(read: CollectionRead): AsyncGenerator<string> {
  const set = documentsText(read.collection);
  for await (const refs of pagesOf(read, set)) yield* versionsOf(read, refs);
  for await (const events of pagesOf(read, `{"events":${set}}`)) {
    const removed = events.flatMap((each) => (isObject(each) && isRemoval(each) ? [each] : []));
    yield* versionsOf(read, await deletedAmong(read, removed));
  }
}

const isRemoval = (event: JsonObject): boolean => event.get('action') === 'remove';

async function* pagesOf({ ask, at }: CollectionRead, set: string): AsyncGenerator<readonly Json[]> {
  let after: Json | undefined;
  do {
    const expr: string = pageText(set, DATA_LIMITS.pageDocuments, after);
    const page: Json = await ask(`{"at":${at},"expr":${expr}}`);
    if (!isObject(page)) return;
    yield itemsOf(page.get('data'));
    after = page.get('after');
  } while (after !== undefined);
}

/** Refs of documents that are deleted: those whose last event is one of these removals. */
async function deletedAmong(
  { ask, at }: CollectionRead,
  removals: readonly JsonObject[],
): Promise<readonly Json[]> {
  if (removals.length === 0) return [];
  const rows = removals.map(
    (each) =>
      `[${stringifyJson(each.get('document') ?? null)},${stringifyJson(each.get('ts') ?? 0)}]`,
  );
  // The page before the end of a document's events has the newest event.
  const last = `{"select":["data",0,"ts"],"from":{"paginate":{"events":{"var":"ref"}},"size":1,"before":null},"default":0}`;
  const isLast = `{"equals":[${last},{"var":"ts"}]}`;
  const found = await ask(
    `{"at":${at},"expr":{"map":{"lambda":["ref","ts"],"expr":{"if":${isLast},"then":{"var":"ref"},"else":false}},"collection":[${rows.join(',')}]}}`,
  );
  return itemsOf(found).filter((each) => each !== false);
}

async function* versionsOf(read: CollectionRead, refs: readonly Json[]): AsyncGenerator<string> {
  for (const ref of refs) {
    const text = stringifyJson(ref);
    const events: JsonObject[] = [];
    for await (const page of pagesOf(read, `{"events":${text}}`))
      events.push(...page.filter(isObject));
    const isGone = events.at(-1)?.get('action') === 'delete';
    // The last event of an existing document is its present version, which has been exported as a document.
    const older = isGone ? events : events.slice(0, -1);
    for (let at = 0; at < older.length; at += DATA_LIMITS.pageDocuments)
      yield* versionsAt(read, text, older.slice(at, at + DATA_LIMITS.pageDocuments));
    if (isGone) yield `{"gone":${text}}`;
  }
}

async function* versionsAt(
  { ask }: CollectionRead,
  ref: string,
  events: readonly JsonObject[],
): AsyncGenerator<string> {
  const live = events.filter((each) => each.get('action') !== 'delete');
  const times = live.map((each) => stringifyJson(each.get('ts') ?? 0));
  const read =
    times.length === 0
      ? []
      : itemsOf(
          await ask(
            `{"map":{"lambda":"ts","expr":{"at":{"var":"ts"},"expr":{"if":{"exists":${ref}},"then":{"get":${ref}},"else":null}}},"collection":[${times.join(',')}]}`,
          ),
        );
  for (const event of events) {
    const ts = event.get('ts') ?? 0;
    if (event.get('action') === 'delete')
      yield `{"version":{"ref":${ref},"ts":${stringifyJson(ts)}},"deleted":true}`;
    else {
      const version = read[live.indexOf(event)];
      // A version whose `ttl` has passed cannot be read any more, not even in the past.
      if (isObject(version)) yield `{"version":${stringifyJson(version)}}`;
    }
  }
}
