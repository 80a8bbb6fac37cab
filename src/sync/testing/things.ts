/** A hub with users and things, and a role for the users. */
import { coll, create, doc, obj } from '../../engine/testing/engine-world.ts';
import { HubWorld, type Device } from './hub-world.ts';

export const THINGS = { documents: coll('things') };
/** Number of the collection `things`. */
export const THINGS_NUMBER = 1025;

/** @param pause the option of the hub */
export async function openThings(pause?: () => Promise<void>): Promise<HubWorld> {
  const world = await HubWorld.open(undefined, {}, pause);
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

export const remove = (world: HubWorld, id: number) => world.ask({ delete: doc('things', id) });

/** Ids of the documents that the device has, in order. */
export const ids = (device: Device): readonly number[] =>
  [...device.documents.keys()].map((name) => Number(name.split('/')[1])).sort((a, b) => a - b);

/** A role for all users. */
export const role = (privileges: readonly unknown[]) => ({
  create_role: obj({
    name: 'reader',
    privileges,
    membership: obj({ resource: coll('users') }),
  }),
});

export const reads = (resource: unknown, read: unknown = true) =>
  obj({ resource, actions: obj({ read }) });

export const lambda = (body: unknown) => ({ query: { lambda: 'ref', expr: body } });
