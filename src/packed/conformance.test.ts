/** Runs the examples of the specification on a packed store that flushes and merges continually. */
import { readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { readExamples, runExample } from '../http/conformance.contract.ts';
import { openMemoryHost } from '../http/testing/memory-host.ts';
import { MediumData } from './testing/memory-medium.ts';
import { openPacked, SMALL } from './testing/packed-kit.ts';

for (const file of ['examples', 'sets-examples', 'auth-examples']) {
  const text = readFileSync(new URL(`../../spec/${file}.jsonl`, import.meta.url), 'utf8');
  describe(`packed store: ${file}`, () => {
    for (const example of readExamples(text)) {
      test(`${example.id} ${example.area}`, async () => {
        const store = await openPacked(new MediumData(), SMALL);
        await runExample(example, await openMemoryHost({ ownDocument: 'by role', store }));
      });
    }
  });
}
