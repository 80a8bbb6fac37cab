/** The objects of a schema, by their kinds and names. */
export type Kind = 'collections' | 'indexes' | 'functions' | 'roles';
/** Parameters of an object, as its `Create…` takes them, without the name. */
export type Params = Readonly<Record<string, unknown>>;
export type Objects = Readonly<Record<Kind, ReadonlyMap<string, Params>>>;
