import { describe } from 'vitest';
import { describeHooks } from './hooks.contract.ts';
import { mountInSvelte } from './testing/svelte-parts.ts';

describe('Svelte', () => {
  describeHooks(mountInSvelte);
});
