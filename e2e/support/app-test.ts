import { test as base } from '@playwright/test';
import type * as Inspector from '../../inspector/inspector.ts';
import type * as Adopt from '../../src/adopt/adopt.ts';
import type * as Background from '../../src/background/background.ts';
import type * as Data from '../../src/data/data.ts';
import type * as Burrow from '../../src/index.ts';
import type * as Schema from '../../src/schema/schema.ts';
import { BrowserProfile } from './browser-profile.ts';

/** An app of e2e/page/builds.mjs: what `migrate()` is called with. */
interface Build extends Schema.MigrateOptions {
  readonly schema: Schema.DefinedSchema;
}

/** What e2e/page/main.js puts into the page, and what tests keep there from one call to the next. */
declare global {
  var burrow: typeof Burrow;
  var workerUrl: string;
  var loadInspector: () => Promise<typeof Inspector>;
  var loadData: () => Promise<typeof Data>;
  var loadAdopt: () => Promise<typeof Adopt>;
  var loadBackground: () => Promise<typeof Background>;
  var loadBuilds: () => Promise<
    typeof Schema & { readonly builds: Readonly<Record<number, Build>> }
  >;
  var db: Burrow.Database;
}

/** Tests of the package in an app: each with a browser of its own. */
export const test = base.extend<{ readonly profile: BrowserProfile }>({
  profile: async ({ launchOptions }, use) => {
    const profile = await BrowserProfile.create(launchOptions);
    try {
      await use(profile);
    } finally {
      await profile.remove();
    }
  },
});

/** Figures that a test found, for whoever reads its output. */
export function print(name: string, figures: Readonly<Record<string, unknown>>): void {
  console.log(`[figures] ${name}: ${JSON.stringify(figures)}`);
}
