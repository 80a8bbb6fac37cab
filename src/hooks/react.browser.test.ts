import { Fragment, StrictMode } from 'react';
import { describe } from 'vitest';
import { describeHooks } from './hooks.contract.ts';
import { mountIn } from './testing/react-parts.ts';

describe('React', () => {
  describeHooks(mountIn(Fragment));
});
describe('React, StrictMode', () => {
  describeHooks(mountIn(StrictMode));
});
