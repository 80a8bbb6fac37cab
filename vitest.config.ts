import { readdirSync, readFileSync } from 'node:fs';
import { playwright } from '@vitest/browser-playwright';
import { compile } from 'svelte/compiler';
import type { Plugin } from 'vite';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { bundledWorkers } from './scripts/browsers/bundled-workers.mjs';
import { kinds, type Kind } from './scripts/browsers/kinds.mjs';
import { hubCommands } from './scripts/browsers/hub-commands.mjs';
import { systemBrowser } from './scripts/browsers/vitest-provider.mjs';
import {
  besideIndex,
  browserAlias,
  entries,
  inNode,
  inProcess,
  serviceWorkerBeside,
  workerFromSource,
} from './scripts/bundle.mjs';
import { chromiumArgs, chromiumPath } from './scripts/chromium.mjs';
import { guidesAsModules } from './scripts/guides.mjs';
import { LongFirst } from './scripts/long-first.mjs';
import { quickPglite } from './scripts/quick-pglite.mjs';
import { trimPackages } from './scripts/trim-packages.mjs';

/** Generous, so that only a test that hangs reaches them: the speed of the machine decides no test. */
const patience = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
};

/** In CI, property tests always try the same cases, so that a new failure is due to the change and not to other random cases. */
const sameCases = (): Plugin => ({
  name: 'burrow:same-cases',
  enforce: 'pre',
  transform: (code, id) =>
    process.env['CI'] !== undefined &&
    id.endsWith('.ts') &&
    code.includes("import * as fc from 'fast-check'")
      ? {
          code: `${code}\n;fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1 });`,
          map: null,
        }
      : undefined,
});

/** Compiles the Svelte components that tests use. */
const svelteComponents = (generate: 'client' | 'server'): Plugin => ({
  name: 'burrow:svelte-components',
  enforce: 'pre',
  transform: (code, id) =>
    id.endsWith('.svelte')
      ? { code: compile(code, { filename: id, generate }).js.code, map: null }
      : undefined,
});

/** Examples in the documentation import the package by its name. */
const packageAlias = [
  ...Object.entries({ ...besideIndex, ...inProcess, ...inNode }).map(([name, replacement]) => ({
    find: `burrowdb/${name}`,
    replacement,
  })),
  { find: 'burrowdb', replacement: entries.index },
];

const elsewhere = ['**/node_modules/**', '**/dist/**', 'demo-dist/**', 'e2e/**'];

/** Chromium is driven by its debugging protocol, with which tests can do what a page cannot, such as limiting its storage. */
const chromium = playwright({
  launchOptions: {
    args: chromiumArgs,
    ...(chromiumPath && { executablePath: chromiumPath }),
  },
});

const browserTests = '{src,worker,in-process,inspector,demo}/**/*.browser.test.ts';

/** These also run in WebKit without its optional features for storage. All other tests would only repeat those with the features. */
const storageTests = [
  'worker/store/indexed-db-store-loss.browser.test.ts',
  'worker/{main,service-worker}.browser.test.ts',
];

const browserProject = (kind: Kind): TestProjectInlineConfiguration => ({
  resolve: {
    alias: [
      ...packageAlias,
      ...Object.entries(browserAlias).map(([find, replacement]) => ({ find, replacement })),
    ],
  },
  plugins: [
    workerFromSource(),
    trimPackages(),
    bundledWorkers(),
    serviceWorkerBeside(),
    svelteComponents('client'),
    sameCases(),
  ],
  worker: { format: 'es', plugins: () => [workerFromSource(), trimPackages()] },
  // Feature flags that Vue expects its bundler to define.
  define: {
    __VUE_OPTIONS_API__: 'true',
    __VUE_PROD_DEVTOOLS__: 'false',
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'true',
  },
  // Listed here, because Vite reloads the page of a running test when it finds a dependency that is not optimized yet.
  optimizeDeps: {
    include: [
      '@noble/hashes/sha2.js',
      '@tanstack/db',
      'bcryptjs',
      'eventsource-parser',
      'fast-check',
      'faunadb',
      'jose',
      'react',
      'react-dom',
      'react-dom/client',
      'react-dom/server',
      'solid-js',
      'solid-js/web',
      'svelte',
      'svelte/internal/client',
      'svelte/internal/disclose-version',
      'svelte/internal/flags/legacy',
      'svelte/reactivity',
      'svelte/store',
      'vue',
      'vue/server-renderer',
    ],
    // scripts/trim-packages.mjs removes the unused parts of these, so Vite must not bundle them before.
    exclude: ['comlink', 'dexie'],
  },
  test: {
    name: kind,
    include: kind === 'webkit' ? storageTests : [browserTests],
    exclude: elsewhere,
    ...patience,
    // Two test files at a time, each in its own browser.
    maxWorkers: 2,
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      commands: hubCommands,
      // As generous as the limits above.
      connectTimeout: 300_000,
      provider: kind === 'chromium' ? chromium : systemBrowser(kind),
      instances: [{ browser: kind === 'webkit-storage' ? 'webkit' : kind }],
    },
  },
});

const testsIn = (rooms: string): string => `{${rooms}}/**/*.test.{ts,tsx,mjs}`;

/** Test files of these rooms share processes, and each process loads a module only once. */
const sharing = 'src,worker,hosts,inspector,demo,in-process';

/**
 * Except files that replace modules, because the replacement would also reach other files of the process, and files that check what keeps
 * their process running, because other files leave such things behind.
 */
const alone = sharing
  .split(',')
  .flatMap((room) =>
    readdirSync(new URL(room, import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.test\.tsx?$/.test(name))
      .map((name) => `${room}/${name.replaceAll('\\', '/')}`),
  )
  .filter((file) =>
    /\bvi\.(?:mock|doMock|resetModules)\(|\bgetActiveResourcesInfo\(/.test(
      readFileSync(new URL(file, import.meta.url), 'utf8'),
    ),
  );

const nodeProject = (
  name: string,
  isolate: boolean,
  include: readonly string[],
  exclude: readonly string[] = [],
): TestProjectInlineConfiguration => ({
  resolve: { alias: packageAlias },
  plugins: [svelteComponents('server'), sameCases(), guidesAsModules()],
  test: {
    name,
    ...patience,
    environment: 'node',
    isolate,
    execArgv: [...quickPglite],
    // The default is one fewer than there are cores, so one of two cores would be idle.
    maxWorkers: '100%',
    include: [...include],
    exclude: ['**/*.browser.test.ts', ...elsewhere, ...exclude],
  },
});

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    projects: [
      nodeProject('node', false, [testsIn(sharing)], alone),
      nodeProject('programs', true, [testsIn('hub,bundlers,scripts'), ...alone]),
      {
        test: {
          name: 'cluster',
          ...patience,
          environment: 'node',
          include: ['ops/**/*.test.ts'],
        },
      },
      ...kinds.map(browserProject),
      {
        test: {
          name: 'browsers',
          ...patience,
          environment: 'node',
          include: ['e2e/browsers/**/*.test.ts'],
          // Two browsers at a time.
          maxWorkers: 2,
          globalSetup: 'e2e/browsers/support/build-app.ts',
        },
      },
    ],
  },
});
