/** The strongest effect that a node may have when it is evaluated. `write` includes `read`. Spec: functions 2. */
export type Effect = 'pure' | 'read' | 'write';

export const EFFECT_RANK = { pure: 0, read: 1, write: 2 } as const satisfies Record<Effect, number>;

export const strongest = (a: Effect, b: Effect): Effect =>
  EFFECT_RANK[a] >= EFFECT_RANK[b] ? a : b;
