/** How much of how many bodies is read in one turn of the event loop. */
import { expect, test } from 'vitest';
import type { AnyRequest } from '../connections/any-request.ts';
import { pauseForTurn } from './paced-reading.ts';

/** Counts the bodies that continue in each turn; each is paused again at once. */
function countReadOn() {
  const perTurn = [0];
  const requestFrom = (address: string, onEnd = (): void => undefined) => {
    let [left, resumed] = [10, 0];
    const request = {
      destroyed: false,
      pause: () => request,
      resume() {
        if (perTurn.at(-1) === 0) setImmediate(() => perTurn.push(0));
        perTurn[perTurn.length - 1] = (perTurn.at(-1) ?? 0) + 1;
        resumed += 1;
        if ((left -= 1) > 0) pauseForTurn(request as unknown as AnyRequest, address);
        else onEnd();
        return request;
      },
    };
    pauseForTurn(request as unknown as AnyRequest, address);
    return () => resumed;
  };
  return { perTurn, requestFrom };
}

test('only a few of many concurrent bodies are read on in one turn of the event loop', async () => {
  const { perTurn, requestFrom } = countReadOn();
  const all = Array.from({ length: 40 }, () => requestFrom('198.51.100.1'));
  await expect.poll(() => all.map((resumed) => resumed())).toEqual(all.map(() => 10));
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(4);
});

test('a body from another address does not wait for many bodies from one address', async () => {
  const { requestFrom } = countReadOn();
  const many = Array.from({ length: 40 }, () => requestFrom('198.51.100.2'));
  await new Promise<void>((resolve) => requestFrom('198.51.100.3', resolve));
  expect(many.reduce((sum, resumed) => sum + resumed(), 0)).toBeLessThan(200);
});
