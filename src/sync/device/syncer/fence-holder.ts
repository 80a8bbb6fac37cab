/** Holds the fencing token of a copy for one syncer, until another syncer takes it. */
import type { Replica } from '../replica/replica.ts';
import { Fenced } from '../state/fence.ts';
import type { ReplicaState } from '../state/replica-state.ts';

export class FenceHolder {
  private readonly replica: Pick<Replica, 'state' | 'takeFence'>;
  private token = 0;

  constructor(replica: Pick<Replica, 'state' | 'takeFence'>) {
    this.replica = replica;
  }

  get fence(): number {
    return this.token;
  }

  async acquire(): Promise<void> {
    this.token = await this.replica.takeFence();
  }

  /** @throws Fenced */
  async state(): Promise<ReplicaState> {
    const state = await this.replica.state();
    if (state?.fence !== this.token) throw new Fenced();
    return state;
  }
}
