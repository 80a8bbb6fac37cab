import { test as base } from '@playwright/test';
import type * as Inspector from '../../inspector/inspector.ts';
import type * as Adopt from '../../src/adopt/adopt.ts';
import type * as Background from '../../src/background/background.ts';
import type * as Data from '../../src/data/data.ts';
import type * as Burrow from '../../src/index.ts';
import type * as Schema from '../../src/schema/schema.ts';
import { BrowserProfile } from './browser-profile.ts';

/** A build of e2e/page/builds.mjs: the arguments of `migrate()`. */
interface Build extends Schema.MigrateOptions {
  readonly schema: Schema.DefinedSchema;
}

/** Globals that e2e/page/main.js defines in the page, and those in which tests keep values between calls. */
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

/** Tests of the package in an app. Each test has its own browser. */
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

/** Prints measurements of a test. */
export function print(name: string, figures: Readonly<Record<string, unknown>>): void {
  console.log(`[figures] ${name}: ${JSON.stringify(figures)}`);
}
