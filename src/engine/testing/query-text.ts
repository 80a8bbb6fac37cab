/** Wire queries as data that tests can manipulate: JSON with literals that JavaScript cannot represent, and with arbitrary keys. */

/** Text that is copied into the query unchanged: `1.0`, digits beyond 2^53, the escape of a lone surrogate. */
export class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type Part = null | boolean | number | string | Raw | readonly Part[] | PartObject;
/** An object with arbitrary keys, which may occur twice. */
export class PartObject {
  readonly members: readonly (readonly [string, Part])[];
  constructor(members: readonly (readonly [string, Part])[]) {
    this.members = members;
  }
}

/** An object whose keys are known in the code. */
export const form = (members: Readonly<Record<string, Part>>): PartObject =>
  new PartObject(Object.entries(members));

export function textOf(part: Part): string {
  if (part instanceof Raw) return part.text;
  if (part instanceof PartObject) {
    return `{${part.members.map(([key, each]) => `${JSON.stringify(key)}:${textOf(each)}`).join(',')}}`;
  }
  return Array.isArray(part) ? `[${part.map(textOf).join(',')}]` : JSON.stringify(part);
}

export function partOf(json: unknown): Part {
  if (Array.isArray(json)) return json.map(partOf);
  if (typeof json !== 'object' || json === null) return json as Part;
  return new PartObject(Object.entries(json).map(([key, each]) => [key, partOf(each)]));
}

/** The part and all parts inside it. */
export function partsIn(part: Part): Part[] {
  if (part instanceof PartObject)
    return [part, ...part.members.flatMap(([, each]) => partsIn(each))];
  return Array.isArray(part) ? [part, ...part.flatMap(partsIn)] : [part];
}

/** A copy in which part number `at` (in the order of `partsIn`) is replaced. */
export function withPart(whole: Part, at: number, other: Part): Part {
  let left = at;
  const walk = (part: Part): Part => {
    const isIt = left === 0;
    left -= 1;
    if (isIt) return other;
    if (part instanceof PartObject) {
      return new PartObject(part.members.map(([key, each]) => [key, walk(each)]));
    }
    return Array.isArray(part) ? part.map(walk) : part;
  };
  return walk(whole);
}
