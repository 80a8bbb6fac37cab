/** `npm run examples`: each folder of `examples/`, installed with the packed package, built, served and used in Chromium. */
import { defineConfig } from '@playwright/test';
import { chromiumArgs, chromiumPath } from '../../scripts/chromium.mjs';

export default defineConfig({
  testDir: '.',
  outputDir: '../../test-results/examples',
  globalSetup: './pack.ts',
  // Of what hangs only: a slow machine or registry fails no test.
  timeout: 900_000,
  expect: { timeout: 60_000 },
  fullyParallel: true,
  workers: 2,
  retries: 0,
  forbidOnly: process.env['CI'] !== undefined,
  // Each example with the time that it took.
  reporter: 'list',
  use: {
    actionTimeout: 60_000,
    trace: 'retain-on-failure',
    launchOptions: { args: chromiumArgs, ...(chromiumPath && { executablePath: chromiumPath }) },
  },
  projects: [{ name: 'examples', use: { browserName: 'chromium' } }],
});
