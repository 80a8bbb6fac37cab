/** A hub with users and things, and a role for the users. */
import { coll, create, doc, obj } from '../../engine/testing/engine-world.ts';
import type { Store } from '../../store/port.ts';
import { HubWorld, type Device } from './hub-world.ts';

export const THINGS = { documents: coll('things') };
/** Number of the collection `things`. */
export const THINGS_NUMBER = 1025;

interface ThingsOptions {
  readonly store?: Store | undefined;
  /** The option of the hub. */
  readonly pause?: (() => Promise<void>) | undefined;
}

export async function openThings({ store, pause }: ThingsOptions = {}): Promise<HubWorld> {
  const world = await HubWorld.open(store, {}, pause);
  for (const name of ['users', 'things']) await world.ask({ create_collection: obj({ name }) });
  return world;
}

export async function put(
  world: HubWorld,
  id: number,
  data: Record<string, unknown> = { n: id },
): Promise<void> {
  const isThere = await world.ask({ exists: doc('things', id) });
  const params = obj({ data: obj(data) });
  await world.ask(
    isThere === true ? { replace: doc('things', id), params } : create(doc('things', id), data),
  );
}

export const count = (world: HubWorld) => world.ask({ count: { documents: coll('things') } });

export const remove = (world: HubWorld, id: number) => world.ask({ delete: doc('things', id) });

/** Ids of the documents that the device has, in order. */
export const ids = (device: Device): readonly number[] =>
  [...device.documents.keys()].map((name) => Number(name.split('/')[1])).sort((a, b) => a - b);

/** A role for all users. @param privileges one, or a list */
export const role = (privileges: unknown) => ({
  create_role: obj({
    name: 'reader',
    privileges,
    membership: obj({ resource: coll('users') }),
  }),
});

export const may = (actions: Record<string, unknown>, resource: unknown = coll('things')) =>
  obj({ resource, actions: obj(actions) });

export const reads = (resource: unknown, read: unknown = true) => may({ read }, resource);

export const lambda = (body: unknown) => ({ query: { lambda: 'ref', expr: body } });
