import { readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { readExamples, runExample } from './conformance.contract.ts';
import { openMemoryHost } from './testing/memory-host.ts';

for (const file of ['examples', 'sets-examples', 'auth-examples']) {
  const text = readFileSync(new URL(`../../spec/${file}.jsonl`, import.meta.url), 'utf8');
  describe(`memory: ${file}`, () => {
    for (const example of readExamples(text)) {
      test(`${example.id} ${example.area}`, async () => {
        // Whether a token may read its own document by default has tests of its own.
        await runExample(example, await openMemoryHost({ ownDocument: 'by role' }));
      });
    }
  });
}
