/** The name of a worker that hashes; it answers password jobs one by one, in order. */
export const HASHING_NAME = 'burrow-hashing';
