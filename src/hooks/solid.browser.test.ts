import { describe } from 'vitest';
import { describeHooks } from './hooks.contract.ts';
import { mountInSolid } from './testing/solid-parts.ts';

describe('Solid', () => {
  describeHooks(mountInSolid);
});
