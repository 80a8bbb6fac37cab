// The Chromium that tests drive. `npm test` finds one and passes its path; a test run by hand finds the usual place.
import { existsSync } from 'node:fs';

const usualPlaces = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Undefined: the browser that Playwright keeps itself. */
export const chromiumPath =
  process.env.BURROW_CHROMIUM || usualPlaces.find((path) => existsSync(path));

/**
 * Of the browser's own window, which nobody sees here: the page behind its address bar costs 2 s of CPU at each start,
 * and a spare renderer 0.3.
 */
const windowFeatures = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'PreloadTopChromeWebUI',
  'SpareRendererForSitePerProcess',
];

/** What Playwright turns off. Chromium takes the last list that it is given, so ours has to name these too. */
const featuresOffInPlaywright = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
];

/** Runs as root in a container, and asks nothing of the network by itself. */
export const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${[...featuresOffInPlaywright, ...windowFeatures].join(',')}`,
];
