import { expect, test } from 'vitest';
import { termsPrefix } from '../../codec/key.ts';
import { readCounted } from '../../store/testing/read-counted.ts';
import { Ref } from '../../values/value.ts';
import type { IndexDefinition } from '../catalog/definitions.ts';
import type { EngineContext } from '../context/context.ts';
import { requireUnique } from './unique.ts';

test('requireUnique() reads each entry of a document only a few times, and asks the store nothing about unchanged entries', () => {
  const keys = Array.from({ length: 1000 }, (_, n) => termsPrefix(0, 32_768, [String(n)]));
  const index = { unique: true, terms: [], values: [] } as Partial<IndexDefinition>;
  const present = readCounted(keys);
  const context = {} as EngineContext;
  const indexed = [{ index: index as IndexDefinition, keys }];
  requireUnique(context, new Ref(0, 1024, 1n), indexed, present.array, []);
  expect(present.reads()).toBeLessThan(5000);
});
