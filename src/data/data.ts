/** `burrowdb/data`: exports and imports of any database, whatever its host. */
export { exportDatabase } from './export.ts';
export { importDatabase } from './import.ts';
export { DataError } from './data-error.ts';
export { storageUse, watchStorage } from './storage.ts';
export type { AskOptions, DataDatabase } from './ask.ts';
export type { DataErrorCode, DataRefusal } from './data-error.ts';
export type { DataProgress, ExportOptions } from './export.ts';
export type {
  ImportCsvOptions,
  ImportExportOptions,
  ImportJsonLinesOptions,
  ImportOptions,
  ImportResult,
} from './import.ts';
export type { DataSource } from './lines.ts';
export type { ColumnType } from './read-csv.ts';
export type {
  StorageEstimates,
  StorageUse,
  StorageWarning,
  StorageWatchOptions,
} from './storage.ts';
export type { OnClash } from './write-batches.ts';
