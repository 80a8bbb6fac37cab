/** Answers of the hashing worker, gathered for one query over its runs. */
import type { Need } from '../store/reader.ts';
import { Suspended } from '../store/reader.ts';
import type { EngineOptions } from './api.ts';

export type HashNeed = Extract<Need, { readonly kind: 'verify' | 'hash' }>;

export class HashAnswers {
  private readonly verified = new Map<string, boolean>();
  private readonly hashed = new Map<string, string>();

  /** Whether `password` is the one behind `hash`; `hash` undefined: false after the same work. @throws Suspended */
  verify(password: string, hash: string | undefined): boolean {
    const answer = this.verified.get(verifyName(password, hash));
    if (answer === undefined) throw new Suspended([{ kind: 'verify', password, hash }]);
    return answer;
  }

  /** @throws Suspended */
  hash(password: string): string {
    const answer = this.hashed.get(password);
    if (answer === undefined) throw new Suspended([{ kind: 'hash', password }]);
    return answer;
  }

  async settle(
    needs: readonly HashNeed[],
    passwords: EngineOptions['passwords'],
    cost: number,
  ): Promise<void> {
    await Promise.all(
      needs.map(async (need) => {
        if (need.kind === 'hash')
          this.hashed.set(need.password, await passwords.hash(need.password, cost));
        else
          this.verified.set(
            verifyName(need.password, need.hash),
            await passwords.verify(need.password, need.hash),
          );
      }),
    );
  }
}

const verifyName = (password: string, hash: string | undefined): string =>
  `${hash ?? ''}\n${password}`;
