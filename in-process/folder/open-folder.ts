/** The store of a folder. Several workers may use it, one after the other. */
import { HUB_ROWS } from '../../hub/store/hub-rows.ts';
import { openHubStore, type HubStore } from '../../hub/store/open-store.ts';
import { Refusal } from '../../src/errors.ts';
import type { Store } from '../../src/store/port.ts';

export class OpenFolder {
  private readonly folder: string;
  private current: Promise<Store> | undefined = undefined;
  /** Resolves when the previous worker has closed the store. */
  private before: Promise<unknown> = Promise.resolve();

  /** @param folder absolute path */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** @throws Refusal `storage_blocked`, `storage_unavailable` */
  store(): Promise<Store> {
    if (this.current) return this.current;
    const opening = this.before.then(() => openFolder(this.folder, forget));
    const forget = (): void => {
      if (this.current === opening) this.current = undefined;
    };
    this.current = opening;
    opening.catch(forget);
    return opening;
  }

  /** Closes the store. The next `store()` waits for that. @param ended settles when the worker has released everything else */
  async leave(ended: Promise<unknown>): Promise<void> {
    const { current, before } = this;
    this.current = undefined;
    const left = Promise.all([before, ended]).then(async () => (await current)?.close());
    this.before = left.catch(() => undefined);
    await this.before;
  }
}

async function openFolder(folder: string, onClose: () => void): Promise<Store> {
  const opened = await openHubStore({ at: { data: folder } });
  const { store } = opened;
  let closed: Promise<void> | undefined;
  // Closing the store also releases the folder.
  const close = async (): Promise<void> => {
    onClose();
    await (closed ??= opened.close());
  };
  try {
    await refuseHub(folder, opened);
  } catch (reason) {
    await close();
    throw reason;
  }
  return {
    read: (body, options) => store.read(body, options),
    write: (body, options) =>
      store.write(body, options).catch((reason: unknown) => {
        const isFull = reason instanceof Refusal && reason.code === 'quota_exceeded';
        throw isFull ? fullDisk(folder, reason) : reason;
      }),
    close,
  };
}

/** Unlike a hub, which tells its callers nothing of its folder. */
const fullDisk = (folder: string, cause: unknown): Refusal =>
  new Refusal('quota_exceeded', `The disk of ${folder} is full: nothing was stored.`, { cause });

/** Refuses the folder of a hub: the devices of the hub would not be notified of what is written here. */
async function refuseHub(folder: string, { store }: HubStore): Promise<void> {
  const marks = [HUB_ROWS.epoch, HUB_ROWS.loading];
  const { rows } = await store.read((tx) => tx.fetch(marks, []));
  if (rows.some(Boolean))
    throw new Refusal(
      'storage_unavailable',
      `${folder} holds the data of a hub: use another folder, or connect() of burrowdb/remote while the hub runs.`,
    );
}
