import { expect, test } from 'vitest';
import { UsageError } from '../index.ts';
import { syncInBackground } from './background.ts';

test.each([
  [{ fetchEveryHour: 12 }, 'There is no option `fetchEveryHour`. There is: fetchEveryHours.'],
  [null, 'Options must be an object, not null.'],
  [{ fetchEveryHours: '12' }, 'The option `fetchEveryHours` must be a number above 0.'],
])('syncInBackground() refuses %j', async (options, description) => {
  const call = syncInBackground({} as never, {} as never, options as never);
  await expect(call).rejects.toBeInstanceOf(UsageError);
  await expect(call).rejects.toMatchObject({ description });
});
