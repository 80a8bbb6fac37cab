/** Pulls for hints. If several devices have the same sets, state and rights, the pull is evaluated once and shared. */
import type { Pull, Pulled } from '../../protocol/messages.ts';
import { NONCE_BYTES, renewedToken } from '../pull/copy-token.ts';
import type { PullOutcome } from '../pull/pull.ts';
import type { CallerHost } from '../rights/device-caller.ts';
import { isSameScope } from '../rights/scope.ts';
import { BoundedMemory } from './bounded-memory.ts';
import type { ChangeHints, DeviceName, ExpectedPull } from './change-hints.ts';

export interface EvaluatedPull {
  readonly outcome: Pick<PullOutcome, 'pulled' | 'before' | 'scope'>;
  /** The standing of the device after the pull. */
  readonly standing: ExpectedPull | undefined;
}

export interface SharedPullsOptions extends Pick<CallerHost, 'clock' | 'random'> {
  readonly hints: Pick<ChangeHints, 'standing' | 'onSharedPull' | 'hasSeenAll'>;
  /** Evaluates the pull of one device. @throws SyncRefused */
  readonly evaluate: (secret: string, message: Pull) => Promise<EvaluatedPull>;
}

export class SharedPulls {
  private readonly options: SharedPullsOptions;
  /** Pulls evaluated since the latest commit, by kind and cursor. */
  private evaluated = new BoundedMemory<Promise<EvaluatedPull | undefined>>();

  constructor(options: SharedPullsOptions) {
    this.options = options;
  }

  onCommit(): void {
    this.evaluated = new BoundedMemory();
  }

  /** @throws SyncRefused */
  async pull(secret: string, device: DeviceName, message: Pull): Promise<Pulled> {
    const { hints, evaluate } = this.options;
    const alone = async (): Promise<Pulled> => (await evaluate(secret, message)).outcome.pulled;
    const standing = hints.standing(device);
    if (!standing?.sharedRights || standing.secret !== secret) return alone();
    const name = `${standing.kind} ${message.cursor}`;
    const { evaluated } = this;
    const first = evaluated.get(name);
    if (!first) {
      const own = evaluate(secret, message);
      const settled = own.catch(() => undefined);
      evaluated.set(name, settled, 0);
      const { pulled } = (await own).outcome;
      evaluated.set(name, settled, charsOf(pulled));
      return pulled;
    }
    const found = await first;
    // In the meantime, a commit may have affected the rights of the device, or the device may have pulled.
    const isUnchanged = hints.standing(device) === standing;
    const shared = isUnchanged && found ? this.sharedAnswer(standing, found) : undefined;
    if (!shared) return alone();
    const { cursor, token } = shared;
    hints.onSharedPull(device, { ...standing, next: { ...standing.next, cursor, token } });
    return shared;
  }

  /** The shared answer with the device's own data, taken from its last pull: no commit has affected that data since. */
  private sharedAnswer(
    { next, pulled: { actor, lastSeq }, sharedRights, kind }: ExpectedPull,
    { outcome: { pulled, before, scope }, standing: other }: EvaluatedPull,
  ): Pulled | undefined {
    const { hints, clock, random } = this.options;
    const isAlike =
      other?.kind === kind &&
      isSameScope(before, scope) &&
      hints.hasSeenAll(next.cursor ?? -1, pulled.cursor) &&
      clock() < (sharedRights?.until ?? 0);
    const token = renewedToken(next.token, pulled.token, random(NONCE_BYTES));
    if (!isAlike || token === undefined) return undefined;
    return { ...pulled, token, after: next.token, lastSeq, verdicts: [], actor };
  }
}

/** Approximate size of a document, or of the name of a removed one, in addition to its text. */
const NAME_CHARS = 99;

/** Approximate size in memory. Not by JSON, which is written only for the response: writing megabytes would block other requests. */
function charsOf({ puts, leaves, schema }: Pulled): number {
  const documents = [...puts, ...(schema?.documents ?? [])];
  const names = (documents.length + leaves.length) * NAME_CHARS;
  return documents.reduce((sum, [, , text]) => sum + text.length, names);
}
