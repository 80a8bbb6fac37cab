/** How the databases of the pages of tests are stored: `BURROW_STORE`, `rows` or `packed`. */
const store = process.env['BURROW_STORE'] ?? 'rows';

export const isPacked = store === 'packed';

/** What tells the pages. */
export const storeModule = (): string => `export const store = ${JSON.stringify(store)};\n`;
