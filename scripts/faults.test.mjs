import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FAULTS, SOURCES } from './faults.mjs';

test.each(FAULTS)(
  'the text that the fault "%s" replaces occurs once in its file',
  (_, file, from) => {
    const source = readFileSync(join(SOURCES, file), 'utf8');
    expect(source.split(from).length - 1, `${file}: ${from}`).toBe(1);
  },
);
