import type { ContenderInfo } from '../page/contender.ts';
import { overComlink } from '../page/over-comlink.ts';

export const info: ContenderInfo = {
  title: 'raw IndexedDB (worker + Comlink), strict',
  where: 'dedicated worker',
  durability: 'strict',
};

export const create = () =>
  overComlink(
    new Worker(new URL('./raw-idb-strict.worker.ts', import.meta.url), {
      type: 'module',
    }),
  );
