/**
 * The databases do not fit together, or an option is wrong. Nothing was written.
 * @example
 * const alone = await openDatabase('alone');
 * await alone.client().query(q.CreateCollection({ name: 'drafts' }));
 * await alone.client().query(q.Create(q.Collection('drafts'), { data: {} }));
 * const failure = await adopt(alone, sync).catch((error) => error);
 * console.log(failure instanceof AdoptRefused, failure.code); // true missing_collection
 */
export class AdoptRefused extends Error {
  /**
   * `missing_collection`: the hub has no such collection, or the copy keeps no set of it. `invalid_option`: an option or argument is wrong.
   */
  readonly code: 'missing_collection' | 'invalid_option';

  constructor(code: AdoptRefused['code'], message: string) {
    super(message);
    this.name = 'AdoptRefused';
    this.code = code;
  }
}
