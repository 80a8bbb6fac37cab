/** `npm run examples`: each folder of `examples/`, installed with the packed package, built, served and used in Chromium. */
import { defineConfig } from '@playwright/test';
import { chromiumArgs, chromiumPath } from '../../scripts/chromium.mjs';

export default defineConfig({
  testDir: '.',
  outputDir: '../../test-results/examples',
  globalSetup: './pack.ts',
  // Only a hanging test reaches these limits: a slow machine or registry must not fail a test.
  timeout: 900_000,
  expect: { timeout: 60_000 },
  fullyParallel: true,
  workers: 2,
  retries: 0,
  forbidOnly: process.env['CI'] !== undefined,
  // Prints the duration of each example.
  reporter: 'list',
  use: {
    actionTimeout: 60_000,
    trace: 'retain-on-failure',
    launchOptions: { args: chromiumArgs, ...(chromiumPath && { executablePath: chromiumPath }) },
  },
  projects: [{ name: 'examples', use: { browserName: 'chromium' } }],
});
