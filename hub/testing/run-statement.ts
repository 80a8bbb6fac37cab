/** Test kit: one statement of SQL on a connection of its own. */
import type { SqlDatabase } from '../sql/sql-client.ts';

let statements = 0;

export async function runStatement(
  database: SqlDatabase,
  text: string,
): Promise<readonly (readonly (string | null)[])[]> {
  const connection = await database.connect();
  try {
    // The server prepares statements by name, so each text needs its own.
    statements += 1;
    const [result] = await connection.run([{ name: `test_${statements}`, text, values: [] }]);
    return result?.rows ?? [];
  } finally {
    connection.release();
  }
}
