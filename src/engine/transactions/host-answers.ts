/**
 * Answers of the host to one query: hashes, password checks, signatures. They are recorded inputs, the same in all executions of the query.
 */
import { tooManyPasswords } from '../../fault-texts.ts';
import { Suspended, type Need, type PasswordAttempt } from '../../store/reader.ts';
import { signatureName, type HostWork } from './host-work.ts';
import type { VerifyResult } from './password-gate.ts';

export type HostNeed = Extract<Need, { readonly kind: 'verify' | 'hash' | 'signature' }>;

export class HostAnswers {
  private readonly work: HostWork;
  private readonly verdicts = new Map<string, VerifyResult>();
  private readonly hashes = new Map<string, string>();
  private readonly signatures = new Map<string, boolean>();

  constructor(work: HostWork) {
    this.work = work;
  }

  /**
   * Whether `password` matches `hash`. If `hash` is undefined, the result is false after the same amount of work.
   * @throws Suspended; Refusal `too many requests` after too many wrong passwords
   */
  verify(password: string, hash: string | undefined, attempt: PasswordAttempt): boolean {
    const result = this.verdicts.get(verdictName(password, hash, attempt));
    if (result === undefined) {
      throw new Suspended([{ kind: 'verify', password, hash, attempt }]);
    }
    if (typeof result === 'boolean') return result;
    throw tooManyPasswords(result.until);
  }

  /** @throws Suspended */
  hash(password: string): string {
    const answer = this.hashes.get(password);
    if (answer === undefined) throw new Suspended([{ kind: 'hash', password }]);
    return answer;
  }

  /** Whether the token is signed by one of the keys at `jwksUri`. @throws Suspended */
  isSigned(token: string, jwksUri: string): boolean {
    const name = signatureName(token, jwksUri);
    const answer = this.signatures.get(name) ?? this.work.knownSignature(token, jwksUri);
    if (answer === undefined) throw new Suspended([{ kind: 'signature', token, jwksUri }]);
    this.signatures.set(name, answer);
    return answer;
  }

  /** Asks the host for all answers. A need that occurs several times is requested once. */
  async settle(needs: readonly HostNeed[]): Promise<void> {
    const byName = new Map(needs.map((need) => [nameOf(need), need]));
    await Promise.all([...byName.values()].map((need) => this.settleOne(need)));
  }

  private async settleOne(need: HostNeed): Promise<void> {
    switch (need.kind) {
      case 'hash':
        this.hashes.set(need.password, await this.work.hash(need.password));
        return;
      case 'verify': {
        const { password, hash, attempt } = need;
        const result = await this.work.verify(password, hash, attempt);
        this.verdicts.set(verdictName(password, hash, attempt), result);
        return;
      }
      case 'signature': {
        const { token, jwksUri } = need;
        const isSigned = await this.work.isSigned(token, jwksUri);
        this.signatures.set(signatureName(token, jwksUri), isSigned);
      }
    }
  }
}

const verdictName = (
  password: string,
  hash: string | undefined,
  { target, account }: PasswordAttempt,
): string => [target, account, hash ?? '', password].join('\n');

const nameOf = (need: HostNeed): string => JSON.stringify(need);
