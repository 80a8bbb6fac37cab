// The Chromium that tests drive. `npm test` finds one and passes its path; a test that is started by hand looks in the usual places.
import { existsSync } from 'node:fs';

const usualPlaces = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Undefined: Playwright uses its own browser. */
export const chromiumPath =
  process.env.BURROW_CHROMIUM || usualPlaces.find((path) => existsSync(path));

/**
 * Features of the browser's own window, which are turned off because nobody sees it: the page behind the address bar takes 2 s of CPU at
 * each start, and a spare renderer 0.3 s.
 */
const windowFeatures = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'PreloadTopChromeWebUI',
  'SpareRendererForSitePerProcess',
];

/** Features that Playwright turns off. Chromium uses only the last `--disable-features`, so our list must repeat them. */
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

/** Lets Chromium run as root in a container, and stops its own network requests. */
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
