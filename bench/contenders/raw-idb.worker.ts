import * as Comlink from 'comlink';
import { RawIdb } from './raw-idb.ts';

Comlink.expose(new RawIdb());
