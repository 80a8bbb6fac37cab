import { defineConfig } from '@playwright/test';
import { chromiumArgs, chromiumPath } from './scripts/chromium.mjs';

const port = process.env['BURROW_E2E_PORT'] ?? '4178';
const baseURL = `http://127.0.0.1:${port}/`;
/** `BURROW_E2E_DEMO=off`: only tests of the package are run, so the demo is not built. */
const hasDemo = process.env['BURROW_E2E_DEMO'] !== 'off';

export default defineConfig({
  testDir: 'e2e',
  // Of its own: what is there is removed at the start, and the examples may be under way.
  outputDir: 'test-results/e2e',
  testMatch: '**/*.spec.ts',
  // Theirs is another configuration: they need the packed package, not the demo.
  testIgnore: 'examples/**',
  globalSetup: './e2e/support/serve-app.ts',
  // Of what hangs only: a slow machine fails no test. How long something takes decides none.
  timeout: 240_000,
  expect: { timeout: 60_000 },
  fullyParallel: false,
  workers: 2,
  retries: 0,
  forbidOnly: process.env['CI'] !== undefined,
  use: {
    baseURL,
    // Of a test that failed and runs again: recording one takes a sixth of the CPU of all.
    trace: 'on-first-retry',
    launchOptions: { args: chromiumArgs, ...(chromiumPath && { executablePath: chromiumPath }) },
  },
  projects: [{ name: 'chromium', use: { browserName: 'chromium' } }],
  ...(hasDemo && {
    webServer: {
      command: `node scripts/start.mjs --port ${port} --strictPort --hub-port 0 --hub-data memory:`,
      url: baseURL,
      timeout: 300_000,
      reuseExistingServer: false,
      stdout: 'pipe' as const,
    },
  }),
});
