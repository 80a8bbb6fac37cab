/** The actions that a role can permit, with the number of arguments that the predicate of each receives. Spec: auth 3.1. */
export const ROLE_ACTIONS = {
  read: 1,
  unrestricted_read: 1,
  write: 2,
  create: 1,
  create_with_id: 2,
  delete: 1,
  history_read: 1,
  history_write: 4,
  call: 1,
} as const satisfies Readonly<Record<string, number>>;

/** An action that a role can permit to its members. */
export type RoleAction = keyof typeof ROLE_ACTIONS;

export const isRoleAction = (name: string): name is RoleAction => Object.hasOwn(ROLE_ACTIONS, name);
