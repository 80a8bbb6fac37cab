import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { BlobUrls } from './blob-urls.ts';

const urls = new BlobUrls();
afterEach(() => urls.close());

const LATER = Date.now() + 600_000;
const file = (text: string) => (): Promise<Blob> => Promise.resolve(new Blob([text]));
const read = async (url: string | undefined): Promise<string> =>
  (await fetch(url ?? 'nothing:')).text();

test('a file version keeps its URL until there is a newer version', async () => {
  const first = await urls.urlOf({ id: 'a', version: 0 }, LATER, file('first'));
  expect(await urls.urlOf({ id: 'a', version: 0 }, LATER, file('again'))).toBe(first);
  expect(await read(first)).toBe('first');
  const second = await urls.urlOf({ id: 'a', version: 1 }, LATER, file('second'));
  expect(await read(second)).toBe('second');
  await expect(read(first)).rejects.toThrow(TypeError);
  urls.close();
  await expect(read(second)).rejects.toThrow(TypeError);
});

test('an older version that is requested or arrives late does not revoke the URL of a newer one', async () => {
  let arrive: (blob: Blob) => void = () => undefined;
  const slow = () => new Promise<Blob>((resolve) => (arrive = resolve));
  const older = urls.urlOf({ id: 'a', version: 0 }, LATER, slow);
  const newer = await urls.urlOf({ id: 'a', version: 1 }, LATER, file('newer'));
  arrive(new Blob(['older']));
  expect(await older).toBe(newer);
  expect(await urls.urlOf({ id: 'a', version: 0 }, LATER, file('older'))).toBe(newer);
  expect(await read(newer)).toBe('newer');
});

test('the timer of a URL fits into 31 bits, also if the clock of its database is far ahead', async () => {
  const timer = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => timer.mockRestore());
  await urls.urlOf({ id: 'b', version: 0 }, Date.now() + 60 * 86_400_000, file('kept'));
  expect(timer.mock.lastCall?.[1]).toBe(3_600_000);
});
