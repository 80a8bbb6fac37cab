import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FAULTS, SOURCES } from './faults.mjs';

test.each(FAULTS)('where the fault "%s" is planted, there is one such text', (_, file, from) => {
  const source = readFileSync(join(SOURCES, file), 'utf8');
  expect(source.split(from).length - 1, `${file}: ${from}`).toBe(1);
});
