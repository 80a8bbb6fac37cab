export const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));
