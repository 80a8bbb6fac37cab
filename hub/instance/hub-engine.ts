/** Creates the engine of a hub. The main thread and the threads for long queries use the same configuration. */
import { hash } from 'node:crypto';
import { createClock, monotonicClock } from '../../hosts/clock.ts';
import { createEngine, type Engine } from '../../src/engine/engine.ts';
import type { EngineOptions, Line, LongQueries, QueryRequest } from '../../src/engine/host.ts';
import { withLongQueries } from '../../src/engine/with-long-queries.ts';
import type { DetachedOption } from '../../src/engine/transactions.ts';
import { FairList } from '../event-loop/fair-list.ts';
import { isLoopback, type HubSettings } from '../settings/settings.ts';
import { createAccessTokens } from './access-tokens.ts';
import { createRandomBytes } from './random-bytes.ts';

export type EngineSettings = Pick<
  HubSettings,
  'hashCost' | 'host' | 'ownDocument' | 'regionGroup' | 'queryTimeoutDefaultMs'
>;

/** The settings that an engine needs, without secrets: they are passed to threads. */
export const engineSettings = ({
  hashCost,
  host,
  ownDocument,
  regionGroup,
  queryTimeoutDefaultMs,
}: HubSettings): EngineSettings => ({
  hashCost,
  host,
  ownDocument,
  regionGroup,
  queryTimeoutDefaultMs,
});

export interface HubEngine extends Pick<EngineOptions, 'clock' | 'random'> {
  readonly engine: Engine;
  /** For routes that authenticate callers themselves. */
  readonly authentication: Pick<
    EngineOptions,
    'random' | 'sha256' | 'rootSecret' | 'accessTokens' | 'ownDocument'
  >;
}

type Parts = {
  /** The URL at which callers reach the hub. */
  readonly url: () => string | undefined;
  readonly rootHash: string | undefined;
} & Pick<EngineOptions, 'store' | 'passwords'> &
  Partial<Pick<EngineOptions, 'lease' | 'groupMicros' | 'sliceMicros' | 'fetchBytes'>> &
  DetachedOption & { readonly longQueries?: (LongQueries & Lines) | undefined };

interface Lines {
  lineOf(request: QueryRequest): Line;
}

export const sha256 = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(hash('sha256', bytes, 'buffer'));
export const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function createHubEngine(
  { hashCost, host, ownDocument, regionGroup }: EngineSettings,
  { url, rootHash, longQueries, ...parts }: Parts,
): HubEngine {
  const clock = hubClock();
  const random = createRandomBytes();
  const authentication = {
    random,
    sha256,
    rootSecret: { hash: rootHash ?? '' },
    accessTokens: createAccessTokens({ url, isLoopbackOnly: isLoopback(host) }),
    ownDocument: ownDocument === 'readable' ? 'readable' : 'by role',
  } as const;
  const engine = createEngine({
    ...authentication,
    ...parts,
    clock,
    hashCost,
    durability: 'strict',
    regionGroup,
    pause,
    makeWaiting: () => new FairList(),
    // Devices are updated from the change log.
    logsChanges: true,
  });
  const own = longQueries
    ? inLines(withLongQueries(engine, longQueries, clock), longQueries)
    : engine;
  return { engine: own, clock, random, authentication };
}

/** Wraps the engine so that the queries of each credential wait for their commit in a line of their own. */
const inLines = (engine: Engine, lines: Lines): Engine => ({
  ...engine,
  query: (request) => engine.query({ ...request, line: lines.lineOf(request) }),
});

export const hubClock = (): (() => number) => monotonicClock(createClock());
