/** Name and version of this build, as `x-faunadb-build` and `burrow --version` show them. */
import { version } from '../package.json';

export const VERSION = version;
export const BUILD = `burrow-${version}`;
