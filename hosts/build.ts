/** Name and version of this build, as shown by `x-faunadb-build` and `burrow --version`. */
import { version } from '../package.json';

export const VERSION = version;
export const BUILD = `burrow-${version}`;
