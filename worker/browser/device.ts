/** What the browser reports about the device. */

interface Device {
  readonly connection?: { readonly saveData?: boolean };
  /** In GB. */
  readonly deviceMemory?: number;
}

/** Memory in GB; browsers report at most 8. Undefined in Firefox and Safari, which do not report it. */
export const deviceMemory = (): number | undefined => (navigator as Device).deviceMemory;

/** The user has asked the browser to save data, so nothing should be loaded ahead of need. */
export const savesData = (): boolean => (navigator as Device).connection?.saveData === true;

/** Devices with at most this much memory (GB) get no work that only saves time later. */
const SMALL_DEVICE = 2;
export const isSmallDevice = (): boolean => (deviceMemory() ?? Infinity) <= SMALL_DEVICE;
