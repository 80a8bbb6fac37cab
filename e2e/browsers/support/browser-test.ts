import { inject, test as base } from 'vitest';
import { isKind, kinds, programOf, type Kind } from '../../../scripts/browsers/kinds.mjs';
import { Browser } from './browser.ts';

/** `BURROW_BROWSERS`: their names with commas between. By hand: those that are on this machine. */
const named = process.env['BURROW_BROWSERS']?.split(',');
const chosen = named
  ? named.map(requireKind)
  : kinds.filter((kind) => programOf(kind) !== undefined);

function requireKind(name: string): Kind {
  if (isKind(name)) return name;
  throw new Error(`BURROW_BROWSERS names ${name}, which is none of ${kinds.join(', ')}.`);
}

/** For `describe.for`: what declares tests in one kind of browser, each with a new profile. */
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

/** One kind of each engine: where WebKit's features for storage make no difference, it is run with them only. */
export const engines = browsers.filter(
  ([kind]) => kind !== 'webkit' || !chosen.includes('webkit-storage'),
);

/** Figures that a test found, for whoever reads its output. */
export function print(
  { kind }: Browser,
  name: string,
  figures: Readonly<Record<string, unknown>>,
): void {
  console.log(`[figures] ${kind}: ${name}: ${JSON.stringify(figures)}`);
}
