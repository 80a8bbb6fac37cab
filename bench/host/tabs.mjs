// Opens tabs with the bench page, and calls functions in them.

const CALL_MS = 300_000;

/**
 * @template T
 * @param {Promise<T>} work @param {number} ms @param {string} what
 * @returns {Promise<T>}
 */
export function within(work, ms, what) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${ms / 1000} s.`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/**
 * @param {import('playwright').BrowserContext} context
 * @param {string} url of the server @param {Record<string, string>} query @param {string} [path]
 */
export async function openTab(context, url, query, path = '') {
  const page = await context.newPage();
  page.on('pageerror', (error) => console.log(`  page error: ${error.message}`));
  await page.goto(`${url}/${path}?${new URLSearchParams(query)}`);
  return {
    page,
    /** @param {string} name @param {...unknown} parameters */
    call: (name, ...parameters) =>
      within(
        page.evaluate(({ name, parameters }) => globalThis.bench[name](...parameters), {
          name,
          parameters,
        }),
        CALL_MS,
        name,
      ),
    close: () => page.close(),
  };
}

/**
 * Opens a contender in a tab for `work`, and closes the tab afterwards, even if `work` fails.
 * @template T
 * @param {{ context: import('playwright').BrowserContext, url: string, contender: string }} place
 * @param {string} database
 * @param {(tab: Awaited<ReturnType<typeof openTab>> & { info: unknown }) => Promise<T>} work
 */
export async function inTab({ context, url, contender }, database, work) {
  const tab = await openTab(context, url, { contender });
  try {
    const info = await tab.call('open', database);
    return await work({ ...tab, info });
  } finally {
    await tab.close();
  }
}

/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
