import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { anchorOf } from '../../scripts/anchors.mjs';
import { browserAlias } from '../../scripts/bundle.mjs';
import { examplesThatRun } from './examples.ts';

const GUIDES = [
  ['The database and its clients', 'database'],
  ['Data model and indexes', 'data-model'],
  ['Paging', 'paging'],
  ['Live queries', 'live-queries'],
  ['Logging in, offline', 'offline-login'],
  ['Permissions', 'permissions'],
  ['An app that starts offline', 'pwa'],
  ['Backup and restore', 'backup'],
].map(([text = '', name]) => ({ text, link: `/guides/${name}` }));

const FAMILIES = [
  ['Control and comparison', 'control'],
  ['Looking into values', 'selecting'],
  ['Arrays, pages and folds', 'arrays'],
  ['Objects', 'objects'],
  ['Strings', 'strings'],
  ['Numbers', 'numbers'],
  ['Time and date', 'time'],
  ['Conversions and type checks', 'types'],
  ['Refs', 'refs'],
  ['Sets', 'sets'],
  ['Reading', 'reads'],
  ['Writing', 'writes'],
  ['Identity', 'identity'],
].map(([text = '', name]) => ({ text, link: `/reference/${name}` }));

/** The examples open their database in the page's own thread, so the default worker is never started, and its file is not built. */
const withoutWorker = {
  name: 'burrow:without-worker',
  enforce: 'pre' as const,
  transform: (code: string, id: string) =>
    id.endsWith('/default-worker.ts')
      ? {
          code: code.replace("new URL('./worker.js', import.meta.url)", "new URL('about:blank')"),
          map: null,
        }
      : undefined,
};

export default defineConfig({
  title: 'Burrow',
  description: 'A document database for the browser that works offline and speaks FQL v4',
  srcDir: 'pages',
  outDir: fileURLToPath(new URL('../dist', import.meta.url)),
  cacheDir: fileURLToPath(new URL('../../node_modules/.cache/burrow/site', import.meta.url)),
  cleanUrls: true,
  markdown: {
    anchor: { slugify: anchorOf },
    config: (markdown) => {
      markdown.use(examplesThatRun);
    },
  },
  vite: {
    plugins: [withoutWorker],
    resolve: {
      alias: Object.entries(browserAlias).map(([find, replacement]) => ({ find, replacement })),
    },
    build: { target: 'es2022', chunkSizeWarningLimit: 2000 },
    esbuild: { target: 'es2022' },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'FQL', link: '/tour' },
      { text: 'Sync', link: '/sync' },
      { text: 'Reference', link: '/reference/' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: [
      {
        text: 'Start',
        items: [
          { text: 'Getting started', link: '/start' },
          { text: 'FQL for SQL and MongoDB', link: '/tour' },
          { text: 'Recipes', link: '/recipes' },
          { text: 'Comparison', link: '/comparison' },
        ],
      },
      {
        text: 'Guides',
        items: [
          ...GUIDES,
          { text: 'Schema', link: '/schema' },
          { text: 'Data in and out', link: '/data' },
          { text: 'Testing', link: '/testing' },
          { text: 'Inspector', link: '/inspector' },
        ],
      },
      {
        text: 'Frameworks and bundlers',
        items: [
          { text: 'React', link: '/react' },
          { text: 'Vue', link: '/vue' },
          { text: 'Svelte', link: '/svelte' },
          { text: 'Solid', link: '/solid' },
          { text: 'TanStack DB', link: '/tanstack' },
          { text: 'Bundlers', link: '/bundlers' },
          { text: 'Scripts', link: '/scripts' },
        ],
      },
      {
        text: 'Sync and hub',
        items: [
          { text: 'Sync', link: '/sync' },
          { text: 'Running a hub', link: '/hub' },
          { text: 'From one hub to a cluster', link: '/deployment' },
          { text: 'Query log', link: '/query-log' },
          { text: 'Protocol', link: '/sync-protocol' },
          { text: 'SQL of the hub', link: '/hub-sql' },
        ],
      },
      {
        text: 'Moving over',
        items: [
          { text: 'From Fauna', link: '/guides/from-fauna' },
          { text: 'From Dexie', link: '/guides/from-dexie' },
          { text: 'From PouchDB', link: '/guides/from-pouchdb' },
          { text: 'From Firestore', link: '/guides/from-firestore' },
        ],
      },
      {
        text: 'Reference',
        items: [
          { text: 'Language', link: '/reference/', collapsed: true, items: FAMILIES },
          { text: 'Differences from the original', link: '/reference/differences' },
          { text: 'Options', link: '/options' },
          { text: 'Errors', link: '/errors' },
          { text: 'Limits', link: '/limits' },
          { text: 'Promises', link: '/promises' },
          { text: 'Package', link: '/package' },
          { text: 'API', link: '/api/' },
        ],
      },
      {
        text: 'Inside',
        collapsed: true,
        items: [
          { text: 'Architecture', link: '/project/architecture' },
          { text: 'Store format', link: '/store-format' },
          { text: 'Benchmarks', link: '/benchmarks' },
          { text: 'Contributing', link: '/project/contributing' },
          { text: 'Changes', link: '/project/changelog' },
        ],
      },
    ],
  },
});
