import { expect, test } from 'vitest';
import { burrow } from './esbuild.ts';
import { pagePath, withWorkerUrl } from './worker-file.ts';

/** What the plugin gives to esbuild for a file. */
function load(path: string, format: string | undefined): unknown {
  let loaded: unknown = 'asked for no file';
  burrow().setup({
    initialOptions: format === undefined ? {} : { format },
    onResolve: () => undefined,
    onLoad: ({ filter, namespace }, loads) => {
      if (namespace === undefined && filter.test(path)) loaded = loads({ path });
    },
  });
  return loaded;
}

test('the esbuild plugin refuses output formats other than "esm"', () => {
  for (const format of [undefined, 'iife', 'cjs'])
    expect(load(pagePath, format)).toMatchObject({
      errors: [{ text: expect.stringContaining('set the option format to "esm"') }],
    });
});

test('the esbuild plugin does not change files of the app', () => {
  expect(load('/app/src/index.js', 'iife')).toBeUndefined();
  expect(load('/app/src/main.js', 'iife')).toBe('asked for no file');
});

test('withWorkerUrl() replaces the URL of the worker, and throws if the code has none', () => {
  const code = 'new Worker(new URL("./worker.js", import.meta.url), { type: "module" })';
  expect(withWorkerUrl(code, "new URL('$&')")).toBe(
    `new Worker(new URL('$&'), { type: "module" })`,
  );
  expect(() => withWorkerUrl('new Worker()', 'here')).toThrow('does not name its worker');
});
