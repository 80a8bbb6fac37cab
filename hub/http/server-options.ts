import type { TlsFiles } from '../connections/acceptor.ts';
import type { OpenedHub } from '../instance/open-hub.ts';
import type { Logger } from '../monitoring/logger.ts';
import type { HubSettings } from '../settings/settings.ts';
import type { HubRoute } from './route.ts';

export interface HubServerOptions {
  readonly hub: Pick<
    OpenedHub,
    | 'http'
    | 'setUrl'
    | 'passwordsWaiting'
    | 'longQueries'
    | 'waitedMost'
    | 'roundTrips'
    | 'lastCommit'
    | 'longPushes'
    | 'lineOf'
  >;
  readonly settings: HubSettings;
  readonly tls: TlsFiles | undefined;
  readonly logger: Logger;
  /** Routes served besides the engine's own API. */
  readonly routes: readonly HubRoute[];
}
