import { BurrowSync } from './burrow.ts';

export const title = 'Burrow, relaxed';
export const create = () => new BurrowSync('relaxed');
