import type { Logger } from '../monitoring/logger.ts';
import type { OpenedHub } from '../instance/open-hub.ts';
import type { HubSettings } from '../settings/settings.ts';
import type { HubRoute } from './route.ts';

export type ServerSettings = Pick<
  HubSettings,
  'host' | 'corsOrigins' | 'allowedHosts' | 'trustedProxies' | 'publicUrl' | 'metrics' | 'limits'
> & {
  /** Contents, not names of files. */
  readonly tls: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined;
};

export interface HubServerOptions {
  readonly hub: Pick<OpenedHub, 'http' | 'passwordsWaiting' | 'roundTrips'>;
  readonly settings: ServerSettings;
  readonly logger: Logger;
  /** Parts served beside the engine's surface. */
  readonly routes?: readonly HubRoute[];
}
