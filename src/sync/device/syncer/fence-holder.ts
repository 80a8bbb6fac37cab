/** One syncer's time at a copy: from when it takes the fence until another tab does. */
import { Fenced, type Replica, type ReplicaState } from '../state/api.ts';

export class Tenure {
  private readonly replica: Pick<Replica, 'state' | 'takeFence'>;
  private own = 0;

  constructor(replica: Pick<Replica, 'state' | 'takeFence'>) {
    this.replica = replica;
  }

  get fence(): number {
    return this.own;
  }

  async begin(): Promise<void> {
    this.own = await this.replica.takeFence();
  }

  /** @throws Fenced */
  async state(): Promise<ReplicaState> {
    const state = await this.replica.state();
    if (state?.fence !== this.own) throw new Fenced('Another tab has taken over the sync.');
    return state;
  }
}
