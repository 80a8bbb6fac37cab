/** The interface of all contenders. The page calls it as an app would; the time to reach a contender's worker is part of the results. */

/** A document of the benchmark. Ids increase with time, as generated ones do. */
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
  /** Value that the contender needs to continue; undefined at the end. */
  readonly cursor: unknown;
}

/** A write counts as done when its promise settles. */
export interface Contender {
  /** Opens the database. The first call creates its indexes: unique by email, by city, by [city, age, id]. */
  open(name: string): Promise<void>;
  close(): Promise<void>;
  /** In one transaction. */
  insertMany(docs: readonly Doc[]): Promise<void>;
  insert(doc: Doc): Promise<void>;
  get(id: string): Promise<Doc | undefined>;
  /** Whole documents, ordered by id. */
  byCity(city: string, limit: number): Promise<readonly Doc[]>;
  /** Whole documents, ordered by [city, age, id]. */
  page(cursor: unknown, limit: number): Promise<DocPage>;
  /** Ids only, in the order of an index whose first field is the city. */
  ids(limit: number): Promise<readonly string[]>;
  /** Read-modify-write of an indexed field, in one transaction. */
  incrementAge(id: string): Promise<void>;
  /** In one transaction. */
  updateMany(ids: readonly string[], age: number): Promise<void>;
  /** Moves `amount` of age between two documents, in one transaction. */
  transfer(from: string, to: string, amount: number): Promise<void>;
  /** Calls back with the documents of a city, now and after each change in any tab. */
  watch(city: string, limit: number, onChange: (docs: readonly Doc[]) => void): Promise<void>;
  /** The state after a crash, as far as the contender reports it. */
  inspect?(): Promise<Inspection>;
}

export interface Inspection {
  readonly loss: string | undefined;
  readonly problems: readonly string[];
}

export interface ContenderInfo {
  readonly title: string;
  readonly where: string;
  /** The guarantee of an awaited write. */
  readonly durability: string;
  readonly notes?: string;
}

export interface ContenderModule {
  readonly info: ContenderInfo;
  readonly create: () => Contender;
}
