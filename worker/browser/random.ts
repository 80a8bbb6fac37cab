export const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));

/** Letters, digits, dashes and underscores. */
export const randomText = (bytes: number): string =>
  btoa(String.fromCharCode(...random(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
