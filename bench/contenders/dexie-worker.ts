import type { ContenderInfo } from '../page/contender.ts';
import { overComlink } from '../page/over-comlink.ts';

export const info: ContenderInfo = {
  title: 'Dexie 4 (worker + Comlink)',
  where: 'dedicated worker',
  durability: "the browser's default (relaxed in Chromium)",
};

export const create = () =>
  overComlink(new Worker(new URL('./dexie.worker.ts', import.meta.url), { type: 'module' }));
