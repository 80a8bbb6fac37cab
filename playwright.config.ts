import { defineConfig } from '@playwright/test';
import { chromiumArgs, chromiumPath } from './scripts/chromium.mjs';

const port = process.env['BURROW_E2E_PORT'] ?? '4178';
const baseURL = `http://127.0.0.1:${port}/`;
/** `BURROW_E2E_DEMO=off`: only tests of the package run, so the demo is not built. */
const hasDemo = process.env['BURROW_E2E_DEMO'] !== 'off';

export default defineConfig({
  testDir: 'e2e',
  // Its own folder, because Playwright empties it at the start, while tests of the examples may be running.
  outputDir: 'test-results/e2e',
  testMatch: '**/*.spec.ts',
  // The examples have their own configuration: they need the packed package instead of the demo.
  testIgnore: 'examples/**',
  globalSetup: './e2e/support/serve-app.ts',
  // Generous, so that only a test that hangs reaches them: the speed of the machine decides no test.
  timeout: 240_000,
  expect: { timeout: 60_000 },
  fullyParallel: false,
  workers: 2,
  retries: 0,
  forbidOnly: process.env['CI'] !== undefined,
  use: {
    baseURL,
    // Only when a failed test runs again: recording all tests takes a sixth of the CPU time.
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
