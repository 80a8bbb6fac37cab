/** host/build.mjs generates this module from the contenders of the run. */
declare module 'virtual:contenders' {
  import type { ContenderModule } from './contender.ts';

  export const contenders: Readonly<Record<string, () => Promise<ContenderModule>>>;
}
