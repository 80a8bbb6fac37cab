/** The salvage of a damaged database, as page and worker speak of it. */

/** What was brought out, and what could not be. */
export interface SalvageResult {
  /** Documents, former versions of them, schema objects, and what sync keeps. */
  readonly rows: number;
  /** Blocks and log records that cannot be read, by number: `block 4294967296`. */
  readonly damaged: readonly string[];
  /** Collections and databases whose own name cannot be read, by the name that they have now: `salvaged_1024`. */
  readonly renamed: readonly string[];
}
