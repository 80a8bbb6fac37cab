/**
 * Work of the host outside all transactions, with what the engine adds: a limit on password attempts and a cache of verified signatures.
 */
import type { PasswordAttempt } from '../../store/reader.ts';
import { remember } from '../../values/remember.ts';
import type { Micros } from '../../values/value.ts';
import type { EngineOptions } from '../context/host.ts';
import { PasswordGate, type VerifyResult } from './password-gate.ts';
import { isWithin, PublishedKeys } from './published-keys.ts';

type Options = Pick<
  EngineOptions,
  'store' | 'clock' | 'elapsed' | 'passwords' | 'hashCost' | 'accessTokens'
>;

/** How long a verified signature is not verified again. Revoked keys are noticed after this time. */
const SIGNATURE_LIFE: Micros = 60 * 1_000_000;
const SIGNATURES_MAX = 256;

export class HostWork {
  private readonly options: Options;
  private readonly gate: PasswordGate;
  private readonly keys: PublishedKeys | undefined;
  /** For each valid signature, when it was verified. */
  private readonly signed = new Map<string, Micros>();

  constructor(options: Options) {
    this.options = options;
    this.gate = new PasswordGate(options);
    const { accessTokens } = options;
    this.keys = accessTokens && new PublishedKeys({ ...options, accessTokens });
  }

  hash(password: string): Promise<string> {
    const { passwords, hashCost } = this.options;
    return passwords.hash(password, hashCost);
  }

  verify(
    password: string,
    hash: string | undefined,
    attempt: PasswordAttempt,
  ): Promise<VerifyResult> {
    const { passwords } = this.options;
    return this.gate.pass(attempt, () => passwords.verify(password, hash, attempt.address));
  }

  async isSigned(token: string, jwksUri: string): Promise<boolean> {
    if (!(await this.keys?.haveSigned(token, jwksUri))) return false;
    remember(this.signed, signatureName(token, jwksUri), this.options.clock(), SIGNATURES_MAX);
    return true;
  }

  /** Undefined: the signature must be verified. */
  knownSignature(token: string, jwksUri: string): true | undefined {
    const at = this.signed.get(signatureName(token, jwksUri));
    return isWithin(SIGNATURE_LIFE, at, this.options.clock()) ? true : undefined;
  }
}

export const signatureName = (token: string, jwksUri: string): string => `${token} ${jwksUri}`;
