/** Runs an example on an in-memory database: the engine itself, in the page. */
import { build } from '../../../inspector/fql/build.ts';
import { createClock, openDatabase } from '../../../in-process/testing.ts';
import { q, queryText, type Database, type Expr } from '../../../src/index.ts';
import { SETUP } from '../../../src/reference/example-setup.ts';
import { printAnswer } from '../../../src/reference/print-answer.ts';

/** The time at which each example runs, as the reference says. Each example has a database of its own. */
const MOMENT = '2026-06-01T12:00:00Z';
const BEFORE = '2025-06-01T12:00:00Z';

/**
 * Runs the query and returns its result, or the reason why it fails, formatted as in the reference.
 * @param isAda run with a token of the user Ada instead of an admin key
 */
export async function answerOf(query: string, isAda = false): Promise<string> {
  try {
    const { expression } = build(query);
    return await answerIn(expression, isAda);
  } catch (error) {
    if (error instanceof Error) return error.message;
    throw error;
  }
}

async function answerIn(expression: Expr, isAda: boolean): Promise<string> {
  const clock = createClock();
  clock.set(BEFORE);
  const db = await openDatabase('playground', { clock });
  try {
    const admin = await makeExamples(db);
    const secret = isAda ? await logInAda(db, admin) : admin;
    clock.set(MOMENT);
    const answer = await db.fetch('/', {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' },
      body: queryText(expression),
    });
    return printAnswer(await answer.text());
  } finally {
    await db.close();
  }
}

/** Creates the documents that the examples use. @returns the secret of an admin key */
async function makeExamples(db: Database): Promise<string> {
  const root = db.client();
  await root.query(q.CreateDatabase({ name: 'garden' }));
  const { secret } = await root.query(
    q.CreateKey({ role: 'admin', database: q.Database('garden') }),
  );
  const client = db.client({ secret });
  for (const step of SETUP) await client.query(build(step).expression);
  return secret;
}

async function logInAda(db: Database, secret: string): Promise<string> {
  const user = q.Ref(q.Collection('users'), '1');
  const token = await db.client({ secret }).Login(user, { password: 'correct horse' });
  return token.secret;
}
