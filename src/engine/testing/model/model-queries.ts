/** Random queries that the reference model can evaluate, mostly without type errors. */
import type { RandomSource } from '../random-source.ts';
import { form, PartObject, Raw, type Part } from '../query-text.ts';
import type { IndexFields } from './database.ts';
import { timeText } from './values.ts';

/** Does not contain both 1 and 1.0: entries of one document that differ only in that have a special order. */
const SCALARS: readonly Part[] = [
  [null, true, false, 0, 1, 2, -1, 30],
  [new Raw('9007199254740993'), new Raw('9007199254740991'), new Raw('-9007199254740993')],
  [new Raw('9223372036854775807'), new Raw('-9223372036854775808')],
  [new Raw('-0.0'), new Raw('0.5'), new Raw('-0.5'), new Raw('1e300')],
  ['', 'a', 'b', 'ab', 'a\0', '\0', '\ud800', '～', '😀', '__proto__', 'constructor', 'é'],
].flat();
const FIELDS = ['a', 'b', '__proto__', 'constructor'];
const IDS = ['1', '2', '3', '4', '9223372036854775807'];
const DEPTH_MAX = 4;

type Kind = 'plain' | 'boolean' | 'integer' | 'ref' | 'set' | 'document' | 'list';
const KINDS: readonly Kind[] = ['plain', 'boolean', 'integer', 'ref', 'document', 'list'];

const call = (...members: readonly (readonly [string, Part])[]): PartObject =>
  new PartObject(members);

export class ModelQueries {
  private readonly random: RandomSource;
  private readonly indexes: readonly IndexFields[];
  /** Times of the commits so far. */
  readonly times: number[] = [];
  /** The time at which the query will be executed. */
  now = 0;
  /** If false, no document has a `ttl`, and the model can compute the events of sets. */
  private readonly hasTtl: boolean;
  /** Possible expiry times of documents. */
  private readonly ends = new Set<number>();
  private names: (readonly [string, Kind])[] = [];

  constructor(random: RandomSource, indexes: readonly IndexFields[]) {
    this.random = random;
    this.indexes = indexes;
    this.hasTtl = random.chance(0.5);
  }

  query(): Part {
    this.names = [];
    const { random } = this;
    if (this.ends.has(this.now) && random.chance(0.5)) return this.counted();
    const choice = random.next();
    if (choice < 0.2) return this.write(1);
    if (choice < 0.25) return this.rewrite();
    if (choice < 0.4) {
      const read = random.chance(0.6) ? this.page(0) : this.got();
      return form({ at: this.time(), expr: read });
    }
    if (choice < 0.45) return this.got();
    if (choice < 0.6) return this.compared();
    if (choice < 0.7) return this.turned();
    if (choice < 0.76) return this.events();
    if (choice < 0.85) return this.narrow();
    return choice < 0.93 ? this.page(0) : this.make(random.pick(KINDS), 0);
  }

  /** A write for the start: creates one of several documents with values in common. */
  filling(): Part {
    const { random } = this;
    const members = FIELDS.map((field) => [field, this.common()] as const);
    const data = form({ object: new PartObject(members.filter(() => random.chance(0.8))) });
    const target = form({ ref: form({ collection: 'c' }), id: random.pick(IDS) });
    return form({ create: target, params: form({ object: form({ data }) }) });
  }

  /** Combinations of sets that have values in common, but from different documents: refs and cursors show which tuple was kept. */
  private compared(): Part {
    const { random } = this;
    const terms = random.chance(0.5) ? [0, 1] : [1, 0];
    const some = [...terms, ...random.some(1, () => random.below(2))].map((term) =>
      form({ match: form({ index: 'i0' }), terms: term }),
    );
    const op = random.pick(['union', 'intersection', 'difference']);
    const made = form({ [op]: random.chance(0.8) ? some : [some[0] ?? null] });
    const set = random.chance(0.5) ? form({ [random.pick(['reverse', 'distinct'])]: made }) : made;
    if (random.chance(0.3)) return form({ get: set });
    const exact = [random.below(2), this.leafOrForm('ref', DEPTH_MAX)];
    const cursor = {
      [random.pick(['after', 'before'])]: random.chance(0.7) ? exact : [random.below(3)],
    };
    return form({ paginate: set, ...(random.chance(0.6) && cursor), size: 1 + random.below(3) });
  }

  /** Nested reversed sets, read at exact cursors: several documents have the same values. */
  private turned(): Part {
    const { random } = this;
    let set = random.chance(0.5)
      ? this.matched()
      : form({ union: [this.matched(), this.matched()] });
    for (const op of random.some(4, () => random.pick(['reverse', 'distinct']))) {
      set = form({ [op]: set });
    }
    if (random.chance(0.4)) return form({ get: set });
    const exact = [random.below(2), this.leafOrForm('ref', DEPTH_MAX)];
    const side = random.pick(['after', 'before']);
    return form({
      paginate: set,
      [side]: random.chance(0.9) ? exact : [2],
      size: 1 + random.below(3),
    });
  }

  private events(): Part {
    const { random } = this;
    const op = random.pick(['union', 'intersection', 'difference', 'distinct']);
    const members = [0, 1].map(() => this.matched());
    const made = form({ [op]: op === 'distinct' ? (members[0] ?? null) : members });
    return this.eventsOf(random.chance(0.5) ? made : this.set(1));
  }

  private eventsOf(set: Part): Part {
    const { random } = this;
    const members: [string, Part][] = [['paginate', set]];
    if (random.chance(0.5)) members.push([random.pick(['after', 'before']), this.time()]);
    members.push(['events', true]);
    if (random.chance(0.5)) members.push(['size', random.pick([0, 1, 2, 3, 5, 64, -1])]);
    return new PartObject(members);
  }

  /** A match on the index in which several documents have values in common. */
  private matched(terms = this.random.below(2)): Part {
    return form({ match: form({ index: 'i0' }), terms });
  }

  /** Everything in the database at this time. */
  private counted(): Part {
    const sets = [0, 1].map((terms) => form({ match: form({ index: 'i0' }), terms }));
    const refs = IDS.map((id) => form({ ref: form({ collection: 'c' }), id }));
    return [
      ...[...sets, form({ documents: form({ collection: 'c' }) })].map((set) =>
        form({ count: set }),
      ),
      ...refs.map((ref) => form({ exists: ref })),
    ];
  }

  /** Cases that the other generators produce too rarely, without other forms around them. */
  private narrow(): Part {
    const { random } = this;
    const [x, y] = [form({ var: 'x' }), form({ var: 'y' })];
    const few = (): Part[] => random.some(3, () => random.below(3));
    const ofPair = (expr: Part): Part => form({ lambda: ['x', 'y'], expr });
    const bound = (): Part => random.pick([[], random.below(2), [random.below(2)]]);
    const terms = random.chance(0.5) ? [0, 1] : [1, 0];
    const operand = (): Part => (random.chance(0.7) ? random.chance(0.5) : random.below(2));
    return random.pick<() => Part>([
      () => form({ paginate: form({ join: this.matched(), with: this.leading() }) }),
      () => form({ paginate: form({ range: this.matched(), from: bound(), to: bound() }) }),
      () => form({ reduce: ofPair([x, y]), initial: 9, collection: few() }),
      () => form({ map: ofPair(y), collection: [few(), few()] }),
      () => form({ [random.pick(['and', 'or'])]: [operand(), operand(), operand()] }),
      () => form({ at: this.time(), expr: form({ paginate: this.matched() }) }),
      () => form({ paginate: form({ intersection: terms.map((each) => this.matched(each)) }) }),
      () => form({ let: [call(['x', 1]), call(['x', form({ add: [x, 1] })])], in: x }),
      () =>
        form({
          map: form({ lambda: 'x', expr: form({ let: [call(['x', 5])], in: x }) }),
          collection: few(),
        }),
    ])();
  }

  /** `get` of a ref, or of a set. */
  private got(): Part {
    return form({ get: this.random.chance(0.6) ? this.leafOrForm('ref', 3) : this.set(1) });
  }

  private common(): Part {
    const { random } = this;
    return random.chance(0.2) ? [0, 1, random.below(3)] : random.below(2);
  }

  /** Two or three consecutive writes of one document. */
  private rewrite(): Part {
    const target = this.leafOrForm('ref', DEPTH_MAX);
    const verbs = [this.verb(), this.verb(), ...this.random.some(1, () => this.verb())];
    return form({ do: verbs.map((verb) => this.writeOf(verb, target, 3)) });
  }

  /** Often one of two values, so that documents have values in common. */
  scalar(): Part {
    return this.random.chance(0.5) ? this.random.below(2) : this.random.pick(SCALARS);
  }

  private make(kind: Kind, depth: number): Part {
    const { random } = this;
    if (random.chance(0.03)) return this.make(random.pick(KINDS), depth + 1);
    const known = this.names.filter(([, each]) => each === kind);
    if (known.length > 0 && random.chance(0.35)) return form({ var: random.pick(known)[0] });
    if (depth < DEPTH_MAX && random.chance(0.25)) return this.around(kind, depth + 1);
    return this.leafOrForm(kind, depth + 1);
  }

  private leafOrForm(kind: Kind, depth: number): Part {
    const isDeep = depth >= DEPTH_MAX;
    switch (kind) {
      case 'plain':
        return this.plain(depth);
      case 'boolean':
        return isDeep ? this.random.chance(0.5) : this.truth(depth);
      case 'integer':
        return isDeep ? this.random.below(4) : this.number(depth);
      case 'ref':
        return form({
          ref: form({ collection: this.random.chance(0.9) ? 'c' : 'd' }),
          id: this.random.pick(IDS),
        });
      case 'set':
        return this.set(depth);
      case 'document':
        return isDeep || this.random.chance(0.6)
          ? form({ get: this.make('ref', depth) })
          : this.write(depth);
      default:
        return this.list(depth);
    }
  }

  /** Forms that may contain a part of any kind. */
  private around(kind: Kind, depth: number): Part {
    const { random } = this;
    const inner = (): Part => this.make(kind, depth);
    switch (random.below(5)) {
      case 0: {
        const outer = this.names;
        const bindings: Part[] = [];
        for (const name of random.some(2, () => random.pick(['v', 'w', '__proto__']))) {
          const bound = random.pick<Kind>([...KINDS, 'set']);
          bindings.push(call([name, this.make(bound, depth)]));
          this.names = [...this.names.filter(([each]) => each !== name), [name, bound]];
        }
        const body = inner();
        this.names = outer;
        return form({ let: bindings, in: body });
      }
      case 1:
        return call(['if', this.make('boolean', depth)], ['then', inner()], ['else', inner()]);
      case 2:
        return form({ do: [this.random.chance(0.5) ? this.write(depth) : this.scalar(), inner()] });
      case 3:
        return form({ at: this.time(), expr: inner() });
      default:
        return form({
          select: [random.below(2)],
          from: [inner(), this.scalar()],
          default: inner(),
        });
    }
  }

  private time(): Part {
    const { times, random } = this;
    return times.length === 0 || random.chance(0.2)
      ? new Raw('9000000000000000')
      : new Raw(String(random.pick(times) + random.below(3) - 1));
  }

  plain(depth: number): Part {
    const { random } = this;
    const choice = depth >= DEPTH_MAX ? 0 : random.below(6);
    if (choice <= 2) return this.scalar();
    if (choice === 3) return random.some(3, () => this.make('plain', depth));
    if (choice === 4) return form({ object: this.members(depth) });
    return form({
      select: ['data', random.pick(FIELDS)],
      from: this.make('document', depth),
      default: this.scalar(),
    });
  }

  private members(depth: number): PartObject {
    const { random } = this;
    const members = new Map(
      random.some(3, () => [random.pick(FIELDS), this.make('plain', depth)] as const),
    );
    return new PartObject([...members]);
  }

  private truth(depth: number): Part {
    const { random } = this;
    const plain = (): Part => this.make('plain', depth);
    const truth = (): Part => this.make('boolean', depth);
    switch (random.below(5)) {
      case 0:
        return form({ equals: [plain(), plain()] });
      case 1:
        return form({ lt: [plain(), plain()] });
      case 2:
        return form({ exists: this.make(random.chance(0.6) ? 'ref' : 'set', depth) });
      case 3:
        return form({ [random.pick(['and', 'or'])]: [truth(), truth()] });
      default:
        return form({ not: truth() });
    }
  }

  private number(depth: number): Part {
    const { random } = this;
    switch (random.below(3)) {
      case 0:
        return form({ add: [this.make('integer', depth), this.make('integer', depth)] });
      case 1:
        return form({ count: this.make(random.chance(0.6) ? 'set' : 'list', depth) });
      default:
        return random.below(4);
    }
  }

  set(depth: number): Part {
    const { random } = this;
    if (depth < DEPTH_MAX && random.chance(0.45)) {
      const alike = random.chance(0.6) ? random.pick(this.indexes) : undefined;
      const some = [0, 1, ...random.some(1, () => 2)].map(() =>
        alike ? this.matchOf(alike) : this.make('set', depth),
      );
      return random.pick<() => Part>([
        () => form({ [random.pick(['union', 'intersection', 'difference'])]: some }),
        () => form({ distinct: some[0] ?? null }),
        () => form({ reverse: some[0] ?? null }),
        () => form({ range: some[0] ?? null, from: this.bound(), to: this.bound() }),
        () => form({ filter: this.keeping(), collection: some[0] ?? null }),
        () => form({ join: some[0] ?? null, with: this.leading() }),
      ])();
    }
    if (random.chance(0.25)) return form({ documents: form({ collection: 'c' }) });
    return this.matchOf(random.pick(this.indexes));
  }

  private bound(): Part {
    return this.random.chance(0.15) ? [] : this.cursor();
  }

  /** A predicate that accepts all kinds of elements. */
  private keeping(): Part {
    const { random } = this;
    const operands = [form({ var: 'x' }), random.chance(0.8) ? random.below(2) : this.scalar()];
    const test = random.pick<() => Part>([
      () => form({ equals: operands }),
      () => form({ lt: random.chance(0.5) ? operands : operands.toReversed() }),
      () => form({ exists: this.leafOrForm('ref', DEPTH_MAX) }),
      () => true,
    ])();
    return form({ lambda: 'x', expr: random.chance(0.3) ? form({ not: test }) : test });
  }

  /** The target of a join. */
  private leading(): Part {
    const { random } = this;
    const index = form({ index: random.pick(this.indexes).name });
    if (random.chance(0.5)) return index;
    const terms = random.chance(0.8) ? form({ var: 'x' }) : random.below(2);
    return form({ lambda: 'x', expr: form({ match: index, terms }) });
  }

  private matchOf(index: IndexFields): Part {
    const { random } = this;
    const terms = index.terms.map(() => (random.chance(0.8) ? random.below(2) : this.scalar()));
    const one = terms.length === 1 && random.chance(0.5) ? (terms[0] ?? null) : terms;
    return form({ match: form({ index: index.name }), ...(terms.length > 0 && { terms: one }) });
  }

  private page(depth: number): Part {
    const { random } = this;
    const members: [string, Part][] = [['paginate', this.make('set', depth + 1)]];
    if (random.chance(0.5)) members.push([random.pick(['after', 'before']), this.cursor()]);
    if (random.chance(0.7)) members.push(['size', random.pick([0, 1, 1, 2, 2, 3, 64, -1])]);
    return new PartObject(members);
  }

  private cursor(): Part {
    const { random } = this;
    const ref = (): Part => this.leafOrForm('ref', DEPTH_MAX);
    if (random.chance(0.2)) return random.chance(0.5) ? this.scalar() : ref();
    const value = (): Part =>
      random.chance(0.15) ? ref() : random.chance(0.8) ? random.below(2) : this.scalar();
    if (random.chance(0.1)) return [ref(), ref()];
    const values = random.some(2, value);
    return random.chance(0.6) ? [...values, ref()] : values;
  }

  private list(depth: number): Part {
    const { random } = this;
    const kind = random.pick(KINDS);
    const items = (): Part =>
      depth >= DEPTH_MAX || random.chance(0.6)
        ? random.some(3, () => this.make(kind, depth + 1))
        : form({ select: ['data'], from: this.page(depth) });
    const choice = random.below(6);
    if (choice === 2) return this.pairs(depth);
    if (choice > 2) return items();
    const outer = this.names;
    const isPage = kind !== 'ref';
    this.names = isPage ? outer : [...outer.filter(([name]) => name !== 'x'), ['x', kind]];
    const expr = this.make(choice === 0 ? random.pick(KINDS) : 'boolean', depth + 1);
    this.names = outer;
    const lambda = form({ lambda: 'x', expr });
    return form({ [choice === 0 ? 'map' : 'filter']: lambda, collection: items() });
  }

  /** Operations on lists of about two elements. */
  private pairs(depth: number): Part {
    const { random } = this;
    const pair = (): Part => [
      this.make('integer', depth + 1),
      this.make('integer', depth + 1),
      ...(random.chance(0.1) ? [0] : []),
    ];
    const outer = this.names;
    const own: readonly (readonly [string, Kind])[] = [
      ['x', 'integer'],
      ['y', 'integer'],
    ];
    this.names = [...outer.filter(([name]) => name !== 'x' && name !== 'y'), ...own];
    const isFold = random.chance(0.4);
    const sum = form({ add: [{ var: 'x' }, { var: 'y' }].map(form) });
    const expr = isFold
      ? random.pick([sum, [form({ var: 'x' }), form({ var: 'y' })]])
      : this.make('integer', depth + 1);
    this.names = outer;
    const lambda = form({ lambda: ['x', 'y'], expr });
    return isFold
      ? call(
          ['reduce', lambda],
          ['initial', random.below(3)],
          ['collection', random.some(3, () => random.below(5))],
        )
      : form({ map: lambda, collection: random.some(3, pair) });
  }

  private verb(): string {
    return this.random.pick(['create', 'create', 'update', 'update', 'replace', 'delete']);
  }

  write(depth: number): Part {
    return this.writeOf(this.verb(), this.make('ref', depth + 1), depth);
  }

  private writeOf(verb: string, target: Part, depth: number): Part {
    const { random } = this;
    if (verb === 'delete') return form({ delete: target });
    const members = this.members(depth + 1).members.map(
      ([key, each]) => [key, random.chance(0.2) ? null : each] as const,
    );
    const data = form({ object: new PartObject(members) });
    const params =
      this.hasTtl && random.chance(0.5) ? form({ data, ttl: this.ttl() }) : form({ data });
    return form({ [verb]: target, params: form({ object: params }) });
  }

  private ttl(): Part {
    const { random, now } = this;
    if (random.chance(0.1)) return null;
    const end = now + (1 + random.below(6)) * 1_000_000;
    this.ends.add(end);
    return form({ '@ts': timeText(end) });
  }
}
