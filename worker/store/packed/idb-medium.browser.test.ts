import { Dexie } from 'dexie';
import { describeStore } from '../../../src/store/store.contract.ts';
import { PACKED_LIMITS } from '../../../src/packed/limits.ts';
import { PackedStore } from '../../../src/packed/packed-store.ts';
import { SMALL } from '../../../src/packed/testing/packed-kit.ts';
import { pause } from '../../browser/pause.ts';
import { IdbMedium, PACKED_LAYOUT } from './idb-medium.ts';

const opening =
  (limits = PACKED_LIMITS) =>
  async (name: string): Promise<PackedStore> => {
    const dexie = new Dexie(`packed ${name}`, { autoOpen: false, cache: 'disabled' });
    dexie.version(1).stores(PACKED_LAYOUT);
    await dexie.open();
    const medium = new IdbMedium(dexie.backendDB(), () => dexie.close());
    const store = new PackedStore({ medium, limits, pause, onFailure: reportError });
    await store.open();
    return store;
  };

describeStore('PackedStore over IndexedDB', opening());
describeStore('PackedStore over IndexedDB that flushes and merges all the time', opening(SMALL));
