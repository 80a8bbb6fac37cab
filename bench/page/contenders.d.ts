/** Made by host/build.mjs from the contenders that a run asks for. */
declare module 'virtual:contenders' {
  import type { ContenderModule } from './contender.ts';

  export const contenders: Readonly<Record<string, () => Promise<ContenderModule>>>;
}
