const BEATS = 4;

/** What only pages have; TypeScript's DOM types lack it. */
interface Page {
  readonly document?: { readonly prerendering?: boolean };
}

/**
 * Calls `late` once, after `ms`. Clear the returned interval in any case. It counts beats: after the device has slept, or the browser has
 * frozen the page, all clocks have advanced, although nothing could respond in that time. Nor is time counted in which the browser
 * prerenders the page, because it starts no worker until the page is shown.
 */
export function deadline(ms: number, late: () => void): ReturnType<typeof setInterval> {
  let beats = 0;
  return setInterval(() => {
    if (!(globalThis as Page).document?.prerendering && ++beats === BEATS) late();
  }, ms / BEATS);
}
