import { inject, test as base } from 'vitest';
import { isKind, kinds, programOf, type Kind } from '../../../scripts/browsers/kinds.mjs';
import { Browser } from './browser.ts';

/** `BURROW_BROWSERS`: names of browsers, separated by commas. Without it, all browsers that are installed are used. */
const named = process.env['BURROW_BROWSERS']?.split(',');
const chosen = named
  ? named.map(requireKind)
  : kinds.filter((kind) => programOf(kind) !== undefined);

function requireKind(name: string): Kind {
  if (isKind(name)) return name;
  throw new Error(`BURROW_BROWSERS names ${name}, which is none of ${kinds.join(', ')}.`);
}

/** Arguments for `describe.for`: a `test` function for each kind of browser. Each test gets a new profile. */
export const browsers = chosen.map(
  (kind) =>
    [
      kind,
      base.extend<{ readonly browser: Browser }>({
        // eslint-disable-next-line no-empty-pattern -- vitest reads from it what the fixture needs
        browser: async ({}, use) => {
          const browser = await Browser.create(kind, inject('appFolder'));
          try {
            await use(browser);
          } finally {
            await browser.remove();
          }
        },
      }),
    ] as const,
);

/** One kind of each engine, for tests in which WebKit's storage features make no difference: WebKit runs only with them. */
export const engines = browsers.filter(
  ([kind]) => kind !== 'webkit' || !chosen.includes('webkit-storage'),
);

/** Prints measurements of a test. */
export function print(
  { kind }: Browser,
  name: string,
  figures: Readonly<Record<string, unknown>>,
): void {
  console.log(`[figures] ${kind}: ${name}: ${JSON.stringify(figures)}`);
}
