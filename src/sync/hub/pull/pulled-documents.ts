/** The documents of a pull: changed ones, requested ones, and the next pages of sets. */
import { decodeDocumentKey, documentKey, type Key } from '../../../codec/key.ts';
import { packVersion, unpackVersion } from '../../../codec/row.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import type { Row } from '../../../store/port.ts';
import type { DocumentName, PulledDocument } from '../../protocol/identifiers.ts';
import { readableSince } from '../rights/previously-readable.ts';
import { isLoadedOn, type ResolvedRequest } from '../sets/requested-sets.ts';
import { nextPages } from '../sets/set-pages.ts';
import type { CaughtUp } from './catch-up.ts';
import type { PullContext } from './pull-context.ts';

export interface PulledDocuments {
  readonly puts: readonly PulledDocument[];
  readonly leaves: readonly DocumentName[];
  /** With how much of each the device has after this answer. */
  readonly sets: readonly ResolvedRequest[];
  /** For some documents, it is unknown whether the device could have read them before. */
  readonly isUnsure: boolean;
}

/** Share of an answer that is reserved for pages, so that a stream of changes cannot block them. */
const PAGE_SHARE = 0.25;

/** @throws Suspended */
export function documentsFor(
  context: PullContext,
  { rows, changed, since, until, bytes }: CaughtUp,
  isOverdue: () => boolean,
): PulledDocuments {
  const { message, input, reader, caller, rights, sets } = context;
  const refetched = refetchedRows(context);
  const candidates = new Map([...rows, ...refetched]);
  const { visible, hidden } = byVisibility(context, candidates);
  const unnamed = new Map([...hidden].filter(([key]) => !refetched.has(key) && changed.has(key)));
  const known = readableSince(reader, caller, rights, unnamed, since ?? input.head);
  const room = Math.max(message.maxBytes - bytes, message.maxBytes * PAGE_SHARE);
  const budget = { bytes: room, rows: SYNC_LIMITS.pullRows, isOverdue };
  const isCaughtUp = until === input.head;
  // Pages add their documents to the visible ones.
  const after = isCaughtUp ? nextPages(reader, rights, sets, budget, visible) : sets;
  const gone = [...hidden.keys()].filter(
    (key) => !visible.has(key) && (known.keys.has(key) || refetched.has(key)),
  );
  return {
    puts: [...visible].map(putOf),
    leaves: gone.map(nameOf),
    sets: after,
    isUnsure: known.isUnsure,
  };
}

/** Separates documents by whether they are in the loaded part of a set and readable. */
function byVisibility(
  { rights, sets }: PullContext,
  candidates: ReadonlyMap<Key, Row | undefined>,
): { readonly visible: Map<Key, Row>; readonly hidden: ReadonlyMap<Key, Row | undefined> } {
  const parts = sets.flatMap((set) => set.parts);
  const isVisible = eachElement(
    candidates,
    ([key, row]) =>
      row !== undefined && parts.some((part) => isLoadedOn(part, row)) && rights.mayRead(key),
  );
  const visible = new Map<Key, Row>();
  const hidden = new Map<Key, Row | undefined>();
  [...candidates].forEach(([key, row], i) => {
    if (row && isVisible[i] === true) visible.set(key, row);
    else hidden.set(key, row);
  });
  return { visible, hidden };
}

function refetchedRows({
  message,
  reader,
  database,
}: PullContext): ReadonlyMap<Key, Row | undefined> {
  const keys = message.refetch.map(([collection, id]) =>
    documentKey(database, collection, BigInt(id)),
  );
  return new Map(
    eachElement(keys, (key) => [key, reader.row({ space: 'documents', key })] as const),
  );
}

function nameOf(key: Key): DocumentName {
  const { collection, id } = decodeDocumentKey(key);
  return [collection, String(id)];
}

function putOf([key, row]: readonly [Key, Row]): PulledDocument {
  const [collection, id] = nameOf(key);
  const version = unpackVersion(String(row.value));
  const stored = version.added ? packVersion({ ...version, added: undefined }) : String(row.value);
  return [collection, id, stored];
}
