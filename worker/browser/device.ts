/** What a browser says of its device. */

interface Device {
  readonly connection?: { readonly saveData?: boolean };
  /** In GB. */
  readonly deviceMemory?: number;
}

/** GB, 8 at most. Undefined: Firefox and Safari say nothing. */
export const deviceMemory = (): number | undefined => (navigator as Device).deviceMemory;

/** Its user asked that nothing be done ahead. */
export const savesData = (): boolean => (navigator as Device).connection?.saveData === true;

/** Where memory and processor are spared, in GB. */
const SMALL_DEVICE = 2;
export const isSmallDevice = (): boolean => (deviceMemory() ?? Infinity) <= SMALL_DEVICE;
