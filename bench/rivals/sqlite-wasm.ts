import type { ContenderInfo } from '../page/contender.ts';
import { overComlink } from '../page/over-comlink.ts';

export const info: ContenderInfo = {
  title: 'SQLite (WASM, OPFS pool)',
  where: 'dedicated worker',
  durability: 'write-ahead log, no flush per commit',
  notes: 'exclusive file handles: one tab only, no live query',
};

export const create = () =>
  overComlink(new Worker(new URL('./sqlite.worker.ts', import.meta.url), { type: 'module' }));
