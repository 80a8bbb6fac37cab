/**
 * Creates users, and the index with which they log in. Executed in the page, on its open database: it can only access the page's globals.
 * @param index further settings of the index
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
