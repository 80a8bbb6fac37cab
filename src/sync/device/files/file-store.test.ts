import { describe } from 'vitest';
import { createMemoryFiles } from './file-store.ts';
import { describeFileStore } from './file-store.contract.ts';

describe('file store in memory', () => {
  describeFileStore(() => Promise.resolve(createMemoryFiles()));
});
