import type { ContenderInfo } from '../page/contender.ts';
import { BurrowContender } from './burrow-queries.ts';

export const info: ContenderInfo = {
  title: 'Burrow, strict (its default)',
  where: 'dedicated worker',
  durability: 'strict',
  notes: 'with history and query log',
};

export const create = () => new BurrowContender({ durability: 'strict' });
