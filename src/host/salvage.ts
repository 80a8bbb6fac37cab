/** The salvage of a damaged database, in the form in which page and worker exchange it. */

/** What was copied, and what could not be read. */
export interface SalvageResult {
  /** Number of copied rows: documents, their earlier versions, schema objects, and rows of sync. */
  readonly rows: number;
  /** Blocks and log records that cannot be read, by number: `block 4294967296`. */
  readonly damaged: readonly string[];
  /** Collections and databases whose own name cannot be read, by their new name: `salvaged_1024`. */
  readonly renamed: readonly string[];
}
