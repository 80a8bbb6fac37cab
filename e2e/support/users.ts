/**
 * Users, and the index by which they log in. Runs in the page, on its open database: it sees the page's globals alone.
 * @param index what else it has
 */
export async function createUsers(index: {
  readonly permissions?: { readonly read: 'public' };
}): Promise<void> {
  const { q } = burrow;
  const admin = db.client();
  await admin.query(q.CreateCollection({ name: 'users' }));
  await admin.query(
    q.CreateIndex({
      name: 'users_by_email',
      source: q.Collection('users'),
      terms: [{ field: ['data', 'email'] }],
      unique: true,
      ...index,
    }),
  );
}
