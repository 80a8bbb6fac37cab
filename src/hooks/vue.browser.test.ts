import { describe } from 'vitest';
import { describeHooks } from './hooks.contract.ts';
import { mountInVue } from './testing/vue-parts.ts';

describe('Vue', () => {
  describeHooks(mountInVue);
});
