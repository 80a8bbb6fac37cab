// The Chromium that tests drive. `npm test` finds one and passes its path; a test run by hand finds the usual place.
import { existsSync } from 'node:fs';

const usualPlaces = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Undefined: the browser that Playwright keeps itself. */
export const chromiumPath =
  process.env.BURROW_CHROMIUM || usualPlaces.find((path) => existsSync(path));

/** Runs as root in a container, and asks nothing of the network by itself. */
export const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
