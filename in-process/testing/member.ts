/** A user who may read and create notes, and whose login syncs them. */
import { q } from '../../src/index.ts';
import type { TestHub } from '../testing.ts';

export const notes = q.Collection<{ n: number }>('notes');

/** Creates the collections, the user and the role. @returns the login of the user */
export async function addMember(admin: ReturnType<TestHub['client']>) {
  await admin.query(
    q.Do(q.CreateCollection({ name: 'users' }), q.CreateCollection({ name: 'notes' })),
  );
  const user = q.Ref(q.Collection('users'), '1');
  await admin.query(q.Create(user, { credentials: { password: 'secret' } }));
  await admin.query(
    q.CreateRole({
      name: 'member',
      membership: { resource: q.Collection('users') },
      privileges: [{ resource: notes, actions: { read: true, create: true } }],
    }),
  );
  const { secret: key } = await admin.query(q.CreateKey({ role: 'client' }));
  return { user, password: 'secret', key };
}
