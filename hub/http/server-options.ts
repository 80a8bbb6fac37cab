import type { HttpHost } from '../../src/http/message.ts';
import type { Admission } from '../admission/admission.ts';
import type { TlsFiles } from '../connections/acceptor.ts';
import type { OpenedHub } from '../instance/open-hub.ts';
import type { Logger } from '../monitoring/logger.ts';
import type { HubMetrics } from '../monitoring/metrics.ts';
import type { HubSettings } from '../settings/settings.ts';
import type { BodyMemory } from './body-memory.ts';
import type { HubRoute } from './route.ts';

export interface HubServerOptions {
  readonly hub: Pick<
    OpenedHub,
    'http' | 'setUrl' | 'passwordsWaiting' | 'roundTrips' | 'lastCommit' | 'evaluators'
  >;
  readonly settings: HubSettings;
  readonly tls: TlsFiles | undefined;
  readonly logger: Logger;
  /** Routes served besides the engine's own API. */
  readonly routes: readonly HubRoute[];
}

/** What the parts of one server share. */
export interface ServerParts extends Pick<HubServerOptions, 'settings' | 'logger'> {
  readonly http: HttpHost;
  readonly admission: Admission;
  /** Counts bodies of requests that are in memory. */
  readonly bodies: BodyMemory;
  readonly metrics: HubMetrics;
  /** Aborted when the hub is stopping. */
  readonly draining: AbortSignal;
}
