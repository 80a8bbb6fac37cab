/** The objects of a schema, by kind and name. */
export type Kind = 'collections' | 'indexes' | 'functions' | 'roles';
/** Parameters of an object as its `Create…` function accepts them, without the name. */
export type Params = Readonly<Record<string, unknown>>;
export type Objects = Readonly<Record<Kind, ReadonlyMap<string, Params>>>;
