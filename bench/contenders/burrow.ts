import type { ContenderInfo } from '../page/contender.ts';
import { BurrowContender } from './burrow-queries.ts';

export const info: ContenderInfo = {
  title: 'Burrow, relaxed',
  where: 'dedicated worker',
  durability: 'relaxed',
  notes: 'with history and query log',
};

export const create = () => new BurrowContender({ durability: 'relaxed' });
