import type { ContenderInfo } from '../page/contender.ts';
import { overComlink } from '../page/over-comlink.ts';

export const info: ContenderInfo = {
  title: 'raw IndexedDB (worker + Comlink)',
  where: 'dedicated worker',
  durability: 'relaxed',
  notes: 'the floor of our shape',
};

export const create = () =>
  overComlink(
    new Worker(new URL('./raw-idb.worker.ts', import.meta.url), {
      type: 'module',
    }),
  );
