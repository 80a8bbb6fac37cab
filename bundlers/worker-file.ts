/** The files of the package that the plugins of bundlers must know. They are built into the folder of these. */
import { fileURLToPath } from 'node:url';

export const pagePath = fileURLToPath(new URL('./index.js', import.meta.url));
export const workerPath = fileURLToPath(new URL('./worker.js', import.meta.url));

/** As the page's file has it: the bundlers that know it need no plugin. */
const WORKER_URL = /new URL\((["'])\.\/worker\.js\1, import\.meta\.url\)/;

/** The page's code with another expression, whose value is a `URL`, in place of the worker's URL. */
export function withWorkerUrl(code: string, expression: string): string {
  if (!WORKER_URL.test(code))
    throw new Error(
      `${pagePath} does not name its worker: another plugin has changed it. Put burrow() before that plugin.`,
    );
  return code.replace(WORKER_URL, () => expression);
}
