/** Made by sync/build.mjs from the contenders that a run asks for. */
declare module 'virtual:sync-contenders' {
  import type { SyncContenderModule } from './contender.ts';

  export const contenders: Readonly<Record<string, () => Promise<SyncContenderModule>>>;
}
