/** The name of a hashing worker. It processes password jobs one at a time, in order. */
export const HASHING_NAME = 'burrow-hashing';
