/** Files of the package that the plugins need. The built plugins are in the same folder as these files. */
import { fileURLToPath } from 'node:url';

export const pagePath = fileURLToPath(new URL('./index.js', import.meta.url));
export const workerPath = fileURLToPath(new URL('./worker.js', import.meta.url));

/** The worker's URL as index.js contains it. Bundlers that recognize this pattern need no plugin. */
const WORKER_URL = /new URL\((["'])\.\/worker\.js\1, import\.meta\.url\)/;

/**
 * Replaces the worker's URL in the page's code by another expression, whose value is a `URL`.
 * @throws Error when the code does not contain the worker's URL
 */
export function withWorkerUrl(code: string, expression: string): string {
  if (!WORKER_URL.test(code))
    throw new Error(
      `${pagePath} does not name its worker: another plugin has changed it. Put burrow() before that plugin.`,
    );
  return code.replace(WORKER_URL, () => expression);
}
