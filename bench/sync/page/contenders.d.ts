/** sync/build.mjs generates this module from the contenders of the run. */
declare module 'virtual:sync-contenders' {
  import type { SyncContenderModule } from './contender.ts';

  export const contenders: Readonly<Record<string, () => Promise<SyncContenderModule>>>;
}
