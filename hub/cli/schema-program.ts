/**
 * Runs `burrow schema` and `burrow types`. They are a separate program next to this one, because it contains the client of the
 * page, which the hub is built without.
 */
import { OperationFault } from '../operations/operation-fault.ts';

export interface HubRequest {
  readonly url: string;
  readonly secret: string;
}

export interface SchemaRequest extends HubRequest {
  readonly file: string;
  readonly allowLoss: readonly string[];
  readonly say: (sentence: string) => void;
}

interface SchemaProgram {
  diff(request: SchemaRequest): Promise<number>;
  apply(request: SchemaRequest): Promise<void>;
  types(request: HubRequest): Promise<string>;
  readonly CommandFault: new () => Error;
}

const hasCommands = (module: object): module is SchemaProgram =>
  ['diff', 'apply', 'types', 'CommandFault'].every((name) => name in module);

export async function withSchemaProgram<T>(
  run: (program: SchemaProgram) => Promise<T>,
): Promise<T> {
  const program = (await import(new URL('./schema-commands.mjs', import.meta.url).href)) as object;
  if (!hasCommands(program)) throw new Error('schema-commands.mjs is of another version.');
  try {
    return await run(program);
  } catch (reason) {
    if (reason instanceof program.CommandFault)
      throw new OperationFault(reason.message, { cause: reason });
    throw reason;
  }
}
