/** The database into which a source is imported: what it had before, and what the source will add. */
import type { Ask } from './ask.ts';
import { DataError } from './data-error.ts';
import { isUniqueOver, stateOf, type SchemaObject } from './schema.ts';
import { documentsText } from './wire.ts';

/** The collection that documents are to be written to. */
interface Target {
  readonly isEmpty: boolean;
  /** Number of documents that exist with the same contents as in the source. */
  same: number;
}

export class Destination {
  /** The schema objects of the source. */
  readonly wanted: SchemaObject[] = [];
  /** The schema objects that existed before the import. */
  readonly present: readonly SchemaObject[];
  private readonly ask: Ask;
  private readonly targets = new Map<string, Target>();
  private readonly keepsTimes = new Map<string, boolean>();

  constructor(ask: Ask, present: readonly SchemaObject[]) {
    this.ask = ask;
    this.present = present;
  }

  /** @throws DataError `invalid_option` when the collection neither exists nor is in the source */
  async targetOf(collection: string): Promise<Target> {
    const known = this.targets.get(collection);
    if (known) return known;
    const target = { isEmpty: await this.isEmpty(collection), same: 0 };
    this.targets.set(collection, target);
    return target;
  }

  private async isEmpty(collection: string): Promise<boolean> {
    const named = (all: readonly SchemaObject[]): boolean =>
      all.some(({ kind, name }) => kind === 'collections' && name === collection);
    if (named(this.present))
      return (await this.ask(`{"is_empty":${documentsText(collection)}}`)) === true;
    if (named(this.wanted)) return true;
    throw new DataError(
      'invalid_option',
      `There is no collection '${collection}': create it first.`,
    );
  }

  /**
   * Whether documents may be inserted with their own times. Inserts at a past time are not checked against unique indexes, so this is only
   * allowed if there are none, or if the source has all existing documents and was subject to the same unique indexes.
   */
  async mayKeepTimes(collection: string): Promise<boolean> {
    const known = this.keepsTimes.get(collection);
    if (known !== undefined) return known;
    const unique = this.present.filter((each) => isUniqueOver(each, collection));
    const wereKept = unique.every((each) =>
      this.wanted.some((other) => other.name === each.name && stateOf(other, [each]) === 'same'),
    );
    const uniqueThere =
      unique.length > 0 || this.wanted.some((each) => isUniqueOver(each, collection));
    const may = !uniqueThere || (wereKept && !(await this.hasOthers(collection)));
    this.keepsTimes.set(collection, may);
    return may;
  }

  /** Whether a collection has documents that are not in the source. */
  private async hasOthers(collection: string): Promise<boolean> {
    const { isEmpty, same } = await this.targetOf(collection);
    if (isEmpty) return false;
    return (await this.ask(`{"count":${documentsText(collection)}}`)) !== same;
  }

  /** A source that can be read only once cannot be compared before it is written. @throws DataError `invalid_option` */
  async requireEmpty(collection: string): Promise<void> {
    if (this.targets.has(collection) || (await this.targetOf(collection)).isEmpty) return;
    const sentence = `The collection '${collection}' holds documents: pass a Blob, or a function that opens the stream, to compare it first.`;
    throw new DataError('invalid_option', sentence);
  }
}
