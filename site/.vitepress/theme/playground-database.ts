/** The database of the examples, in memory: the engine itself, in the page. */
import { build } from '../../../inspector/fql/build.ts';
import { printValue } from '../../../inspector/fql/print-value.ts';
import { openDatabase } from '../../../in-process/testing.ts';
import { QueryError, type Client } from '../../../src/index.ts';
import { SETUP } from '../../../src/reference/example-setup.ts';

let opened: Promise<Client> | undefined;

async function open(): Promise<Client> {
  const client = (await openDatabase('playground')).client();
  for (const step of SETUP) await client.query(build(step).expression);
  return client;
}

/** What the query answers, or why it fails, as text. */
export async function answerOf(query: string): Promise<string> {
  try {
    const client = await (opened ??= open());
    return printValue(await client.query(build(query).expression));
  } catch (error) {
    if (error instanceof QueryError) {
      return `${error.code} at ${JSON.stringify(error.position)}: ${error.description}`;
    }
    if (error instanceof Error) return error.message;
    throw error;
  }
}
