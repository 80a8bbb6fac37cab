/**
 * Warm-up of the engine's code. Code that runs for the first time is interpreted, which takes several times as long as compiled code. So
 * while the app is idle, pages of documents are read as an app would read them, and the results are discarded.
 */
import type { Engine } from '../../src/engine/engine.ts';
import { TurnOver } from '../../src/query/turn-over.ts';
import { isSmallDevice, savesData } from '../browser/device.ts';
import { pause } from '../browser/pause.ts';

export interface WarmUpParts {
  /** Must end queries that take longer than their time slice. */
  readonly engine: Pick<Engine, 'query'>;
  readonly rootSecret: string;
}

interface WarmUpHost {
  /** Resolves when the event loop is free for the next page. */
  readonly idle: () => Promise<void>;
  /** Monotonic time in ms. */
  readonly now: () => number;
  readonly isStopped: () => boolean;
}

/** Wait this long after opening: the first queries of an app arrive immediately, and its blocks are prefetched before the warm-up. */
const AFTER_MS = 1_000;
/** After this many pages, browsers have compiled the code that runs for each document. */
const PAGES_MAX = 50;
const ALL_MS_MAX = 250;
/** A query that arrives during the warm-up waits for at most one page. */
const PAGE_MS_MAX = 20;
/** The page size is doubled as long as a page takes less than this. */
const PAGE_MS = 10;
const FIRST_SIZE = 4;
const SIZE_MAX = 64;

/** A part of wire JSON. */
type Wire = unknown;

/** @returns a function that stops the warm-up */
export function beginWarmUp(
  parts: WarmUpParts & { readonly report: (reason: unknown) => void },
): () => void {
  if (savesData() || isSmallDevice()) return () => undefined;
  let isStopped = false;
  const host = { idle: pause, now: () => performance.now(), isStopped: () => isStopped };
  const timer = setTimeout(() => void warmUp(parts, host).catch(parts.report), AFTER_MS);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

export async function warmUp(
  { engine, rootSecret }: WarmUpParts,
  { idle, now, isStopped }: WarmUpHost,
): Promise<void> {
  let pages = 0;
  let msLeft = ALL_MS_MAX;
  let size = FIRST_SIZE;

  const read = async (query: Wire): Promise<Page | undefined> => {
    await idle();
    if (isStopped() || pages === PAGES_MAX || msLeft <= 0) return undefined;
    pages += 1;
    const startedAt = now();
    try {
      const { status, body } = await engine.query({
        secret: rootSecret,
        query: JSON.stringify(query),
        apiVersion: '4',
        allows: 'read',
        turnMs: () => PAGE_MS_MAX,
      });
      return status === 200 ? (JSON.parse(body) as { resource: Page }).resource : undefined;
    } catch (reason) {
      if (reason instanceof TurnOver) return undefined;
      throw reason;
    } finally {
      const took = now() - startedAt;
      msLeft -= took;
      if (took < PAGE_MS) size = Math.min(size * 2, SIZE_MAX);
    }
  };

  const collections = await read({ paginate: { collections: null } });
  for (let documents = -1; documents !== 0;) {
    documents = 0;
    for (const collection of collections?.data ?? []) {
      let before: Wire = null;
      while (before !== undefined) {
        const page = await read(documentsOf(collection, size, before));
        documents += page?.data.length ?? 0;
        before = page?.before;
      }
    }
  }
}

interface Page {
  readonly data: readonly Wire[];
  readonly before?: Wire;
}

const documentsOf = (collection: Wire, size: number, before: Wire): Wire => ({
  map: { lambda: 'ref', expr: { get: { var: 'ref' } } },
  collection: { paginate: { documents: collection }, size, before },
});
