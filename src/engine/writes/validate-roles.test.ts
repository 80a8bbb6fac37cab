import { expect, test } from 'vitest';
import { coll, obj } from '../testing/engine-world.ts';
import { on, privilege, world, notes } from '../testing/role-notes.ts';

test('invalid roles are refused when they are written', async () => {
  const w = await world();
  const role = (fields: Record<string, unknown>) => ({
    create_role: obj({ name: 'r', ...fields }),
  });
  const failures = async (fields: Record<string, unknown>) =>
    (await w.fault(role(fields))).failures?.map(({ field, code }) => [field.join('.'), code]);
  expect(await failures({ name: 'self' })).toEqual([['name', 'reserved name']]);
  expect(await failures({ privileges: privilege(notes, { read: 1 }) })).toEqual([
    ['privileges.actions.read', 'invalid type'],
  ]);
  expect(await failures({ privileges: obj({ actions: obj({}) }) })).toEqual([
    ['privileges.resource', 'value required'],
  ]);
  const arities: Record<string, number> = {
    read: 1,
    write: 2,
    create: 1,
    create_with_id: 2,
    delete: 1,
    history_read: 1,
    history_write: 4,
    unrestricted_read: 1,
    call: 1,
  };
  const takes = (count: number) => on(['a', 'b', 'c', 'd'].slice(0, count), true);
  for (const [action, arity] of Object.entries(arities)) {
    for (const count of [1, 2, 3, 4]) {
      const given = privilege(notes, { [action]: takes(count) });
      const fault = [[`privileges.actions.${action}`, 'invalid arity']];
      if (count === arity) continue;
      expect(await failures({ privileges: given })).toEqual(fault);
    }
    const fits = [takes(arity), on('_', true)];
    for (const fit of fits) {
      const made = await w.ask(role({ privileges: privilege(notes, { [action]: fit }) }));
      expect(made).toMatchObject({ name: 'r' });
      await w.ask({ delete: { role: 'r' } });
    }
  }
  // The number of parameters is not checked for privileges in an array. Unknown actions are dropped.
  const loose = [privilege(notes, { read: takes(3), fly: true })];
  const made = await w.document(role({ privileges: loose }));
  expect(Object.keys((made as unknown as RoleAnswer).privileges[0]?.actions ?? {})).toEqual([
    'read',
  ]);
  expect(await w.fault(role({}))).toMatchObject({
    code: 'instance already exists',
    position: ['create_role'],
  });
  expect(
    await failures({ membership: obj({ resource: coll('users'), predicate: takes(2) }) }),
  ).toEqual([['membership.predicate', 'invalid arity']]);
});
interface RoleAnswer {
  readonly privileges: readonly { readonly actions: object }[];
}

test('a collection can be in the membership of at most 64 roles', async () => {
  const w = await world();
  const role = (name: string) => obj({ name, membership: [obj({ resource: coll('users') })] });
  const made = Array.from({ length: 64 }, (_, i) => ({ create_role: role(`r${i}`) }));
  await w.ask({ do: made });
  expect(await w.fault({ create_role: role('more') })).toMatchObject({
    code: 'validation failed',
    failures: [{ code: 'resources exceeded' }],
  });
  await w.ask({ update: { role: 'r0' }, params: obj({ data: obj({ a: 1 }) }) });
  await w.ask({ delete: { role: 'r0' } });
  await w.ask({ create_role: role('more') });
});
