import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { packVersion, unpackVersion } from './row.ts';

const micros = fc.integer({ min: -1e15, max: Number.MAX_SAFE_INTEGER - 1e15 });

test('unpackVersion() reverses packVersion()', () => {
  fc.assert(
    fc.property(
      micros,
      fc.constantFrom('create' as const, 'update' as const, 'delete' as const),
      fc.option(micros, { nil: undefined }),
      fc.option(fc.array(fc.nat(1e9), { minLength: 1 }), { nil: undefined }),
      fc.boolean(),
      fc.string(),
      (ts, action, ttl, ages, plain, body) => {
        const added = ages?.map((age) => ts - age);
        const read = unpackVersion(packVersion({ ts, action, ttl, added, plain, body }));
        expect(read).toEqual({
          ts,
          action,
          ttl,
          added: added?.some((each) => each !== ts) ? added : undefined,
          plain,
          body,
        });
      },
    ),
  );
});

test('packVersion() writes the bytes of the stored format', () => {
  const body = '{"data":{"a":1}}';
  const ts = 1_700_000_000_000_000;
  expect(
    packVersion({ ts, action: 'create', ttl: undefined, added: undefined, plain: true, body }),
  ).toBe('cpgqll7vatq8\n{"data":{"a":1}}');
  expect(
    packVersion({ ts, action: 'update', ttl: ts + 36, added: [ts, ts - 36], plain: false, body }),
  ).toBe('ungqll7vatq8~gqll7vatr8+,10\n{"data":{"a":1}}');
  expect(
    packVersion({ ts, action: 'delete', ttl: undefined, added: undefined, plain: true, body: '' }),
  ).toBe('dpgqll7vatq8\n');
});

test('unpackVersion() refuses an unknown header', () => {
  expect(() => unpackVersion('xp12\n{}')).toThrow('unknown header');
  expect(() => unpackVersion('{}')).toThrow('unknown header');
});
