// Arguments of Node for processes of tests that use PGlite.

/**
 * V8 compiles WebAssembly only with its fast compiler. In the seconds for which a database of a test lives, its optimizing compiler needs
 * more CPU time for PGlite than it saves.
 * @type {readonly string[]}
 */
export const quickPglite = ['--liftoff-only'];
