import { BurrowSync } from './burrow.ts';

export const title = 'Burrow, strict (its default)';
export const create = () => new BurrowSync('strict');
