/** Whether a database answers: said soon, also while it does not. */
import { setTimeout as wait } from 'node:timers/promises';
import type { SqlDatabase } from './sql-client.ts';

export interface StoreHealth {
  readonly isReady: boolean;
  readonly description: string;
}

const ANSWER_MS = 100;
/** A database that is silent for longer than its longest work is not busy but away. */
const SILENCE_MS = 60_000;

const ANSWERS: StoreHealth = { isReady: true, description: 'The database answers.' };
const BUSY: StoreHealth = { isReady: true, description: 'The database is busy.' };
const AWAY: StoreHealth = { isReady: false, description: 'The database cannot be reached.' };
const CLOSED: StoreHealth = { isReady: false, description: 'The store is closed.' };

export class Health {
  private readonly database: SqlDatabase;
  private readonly now: () => number;
  private known = ANSWERS;
  private asked: { readonly answer: Promise<StoreHealth>; readonly at: number } | undefined =
    undefined;

  /** @param now monotonic, ms */
  constructor(database: SqlDatabase, now: () => number = () => performance.now()) {
    this.database = database;
    this.now = now;
  }

  close(): void {
    this.known = CLOSED;
  }

  async look(): Promise<StoreHealth> {
    if (this.known === CLOSED) return CLOSED;
    // One question at a time: those who look often do not queue up before a busy database.
    this.asked ??= { answer: this.ask(), at: this.now() };
    const { answer, at } = this.asked;
    const soon = await Promise.race([answer, wait(ANSWER_MS, undefined, { ref: false })]);
    if (soon) return soon;
    if (!this.known.isReady || this.now() - at > SILENCE_MS) return AWAY;
    return BUSY;
  }

  private async ask(): Promise<StoreHealth> {
    let found = ANSWERS;
    try {
      const connection = await this.database.connect();
      await connection
        .run([{ name: 'burrow_health', text: 'SELECT 1', values: [] }])
        .finally(() => connection.release());
    } catch {
      found = AWAY;
    }
    this.asked = undefined;
    if (this.known !== CLOSED) this.known = found;
    return this.known;
  }
}
