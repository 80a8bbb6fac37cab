/** `burrow schema` and `burrow types`: migrate the database of a running hub with an app's schema module, and generate its types. */
import { pathToFileURL } from 'node:url';
import { messageOf } from '../hosts/node-errors.ts';
import { BurrowError } from '../src/index.ts';
import {
  migrate,
  planMigration,
  SchemaRefused,
  type DataStep,
  type DefinedSchema,
} from '../src/schema/schema.ts';
import { connect } from './remote.ts';
import { typeFile } from './type-file.ts';

/** An error that the operator can fix: its message is enough, without a stack. */
export class CommandFault extends Error {}

interface HubCommand {
  readonly url: string;
  readonly secret: string;
}

export interface SchemaCommand extends HubCommand {
  /** A module that exports `schema`, `version` and, optionally, `steps`. */
  readonly file: string;
  readonly allowLoss: readonly string[];
  readonly say: (sentence: string) => void;
}

interface SchemaModule {
  readonly schema: DefinedSchema;
  readonly version: number;
  readonly steps: Readonly<Record<number, DataStep>>;
}

/** Prints each change that `apply` would make. @returns the number of changes */
export async function diff(command: SchemaCommand): Promise<number> {
  const { schema } = await moduleAt(command.file);
  const changes = await atHub(command, (hub) => planMigration(hub, schema));
  for (const { text } of changes) command.say(text);
  if (changes.length === 0) command.say('The database has this schema.');
  return changes.length;
}

export async function apply(command: SchemaCommand): Promise<void> {
  const { schema, version, steps } = await moduleAt(command.file);
  const { allowLoss, say } = command;
  const done = await atHub(command, (hub) =>
    migrate(hub, schema, {
      version,
      steps,
      allowLoss,
      onProgress: ({ phase, step, documents }) => {
        if (phase === 'step') say(`step to version ${step}: ${documents ?? 0} documents`);
        else say(phase);
      },
    }),
  );
  for (const { text } of done.changes) say(text);
  say(`The schema has version ${done.to}; it had ${done.from}.`);
}

/** The text of the file with types. */
export const types = (command: HubCommand): Promise<string> =>
  atHub(command, (hub) => typeFile(hub.client(), command.url));

async function atHub<T>(
  { url, secret }: HubCommand,
  work: (hub: Awaited<ReturnType<typeof connect>>) => Promise<T>,
): Promise<T> {
  try {
    const hub = await connect({ url, secret });
    try {
      return await work(hub);
    } finally {
      await hub.close();
    }
  } catch (reason) {
    if (
      reason instanceof SchemaRefused ||
      reason instanceof BurrowError ||
      reason instanceof RangeError
    )
      throw new CommandFault(reason.message, { cause: reason });
    throw reason;
  }
}

async function moduleAt(file: string): Promise<SchemaModule> {
  if (/\.[cm]?tsx?$/.test(file))
    throw new CommandFault(
      `${file} is TypeScript, which Node does not run by itself: compile it first, for example with npx esbuild ${file} --bundle --packages=external --format=esm --outfile=schema.mjs, and name what comes out.`,
    );
  const found = await imported(file);
  const { schema, version, steps = {} } = found;
  if (
    !isSchema(schema) ||
    typeof version !== 'number' ||
    typeof steps !== 'object' ||
    steps === null
  )
    throw new CommandFault(
      `${file} must export \`schema\` (made by defineSchema), \`version\` (a number) and, optionally, \`steps\`.`,
    );
  return { schema, version, steps: steps as SchemaModule['steps'] };
}

async function imported(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  } catch (reason) {
    throw new CommandFault(`${file} could not be loaded: ${messageOf(reason)}`, { cause: reason });
  }
}

const isSchema = (value: unknown): value is DefinedSchema =>
  typeof value === 'object' && value !== null && 'objects' in value;
