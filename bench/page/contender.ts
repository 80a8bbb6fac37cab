/** What every contender offers. The page calls it as an app would; one that lives in a worker pays its own hop. */

/** One document of the bench. Ids grow with time, as generated ones do. */
export interface Doc {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly age: number;
  readonly city: string;
  readonly tags: readonly string[];
  readonly body: string;
}

export interface DocPage {
  readonly docs: readonly Doc[];
  /** Whatever the contender needs to go on; undefined at the end. */
  readonly cursor: unknown;
}

/** A write counts when its promise settles. */
export interface Contender {
  /** Opens, and on the first opening makes, the indexes: unique by email, by city, by [city, age, id]. */
  open(name: string): Promise<void>;
  close(): Promise<void>;
  /** In one transaction. */
  insertMany(docs: readonly Doc[]): Promise<void>;
  insert(doc: Doc): Promise<void>;
  get(id: string): Promise<Doc | undefined>;
  /** Whole documents, by id. */
  byCity(city: string, limit: number): Promise<readonly Doc[]>;
  /** Whole documents, by [city, age, id]. */
  page(cursor: unknown, limit: number): Promise<DocPage>;
  /** Ids only, in the order of an index that begins with the city. */
  ids(limit: number): Promise<readonly string[]>;
  /** Read-modify-write of an indexed member, in one transaction. */
  incrementAge(id: string): Promise<void>;
  /** In one transaction. */
  updateMany(ids: readonly string[], age: number): Promise<void>;
  /** Moves `amount` of age between two documents, in one transaction. */
  transfer(from: string, to: string, amount: number): Promise<void>;
  /** Calls back with the documents of a city now and after each change, made in any tab. */
  watch(city: string, limit: number, onChange: (docs: readonly Doc[]) => void): Promise<void>;
  /** What it can say itself about its state after a crash. */
  inspect?(): Promise<Inspection>;
}

export interface Inspection {
  readonly loss: string | undefined;
  readonly problems: readonly string[];
}

export interface ContenderInfo {
  readonly title: string;
  readonly where: string;
  /** What an awaited write means. */
  readonly durability: string;
  readonly notes?: string;
}

export interface ContenderModule {
  readonly info: ContenderInfo;
  readonly create: () => Contender;
}
