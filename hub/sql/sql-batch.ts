/** A batch: statements that are sent together, with a check of how many rows each has changed. */
import { assert } from '../../src/errors.ts';
import type { SqlConnection, SqlResult, Statement } from './sql-client.ts';

export class Batch {
  private readonly statements: Statement[];
  private results: readonly SqlResult[] = [];

  constructor(before: readonly Statement[] = []) {
    this.statements = [...before];
  }

  /** @returns the number to pass to `result()` and `expect()` */
  add(statement: Statement): number {
    return this.statements.push(statement) - 1;
  }

  /** @throws SqlFailure */
  async run(connection: SqlConnection): Promise<void> {
    this.results = await connection.run(this.statements);
  }

  /** The name of a statement, for example of the one that failed. */
  nameAt(at: number): string | undefined {
    return this.statements[at]?.name;
  }

  result(number: number): SqlResult {
    const found = this.results[number];
    assert(found, () => `statement ${number} of a batch was run`);
    return found;
  }

  /** Throws unless the statement changed `count` rows: if a database silently loses a statement, the rest must not be committed. */
  expect(number: number, count: number): void {
    const { count: actual } = this.result(number);
    assert(
      actual === count,
      () => `${this.nameAt(number)} must change ${count} rows, and changed ${actual}`,
    );
  }
}
