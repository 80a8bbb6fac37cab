/** Random queries from the function table, mostly with arguments of the right types. */
import { BASIC_FORMS, FUNCTION_ROWS } from '../../query/table.ts';
import type { FunctionRow, Parameter } from '../../query/function-row.ts';
import type { RandomSource } from './random-source.ts';
import { form, PartObject, Raw, type Part } from './query-text.ts';

const SCALARS: readonly Part[] = [
  [null, true, false, 0, 1, -1, 2, 64, 1024, 100_000],
  [new Raw('-0'), new Raw('-0.0'), new Raw('0.0'), new Raw('1.0'), new Raw('1e2'), new Raw('0.1')],
  [new Raw('9007199254740993'), new Raw('-9007199254740993'), new Raw('9223372036854775807')],
  [new Raw('-9223372036854775808'), new Raw('1e308'), new Raw('5e-324'), new Raw('1.5e-7')],
  ['', 'a', 'ab', 'name', 'data', 'ref', 'ts', '__proto__', 'constructor', 'prototype', 'create'],
  ['\0', '\ud800', 'a\udc00', '～', '😀', 'é', 'ﬀ', 'İ', '1', '-1', '1.5', ' x ', '_', 'self'],
  ['2020-02-29', '9999-12-31T23:59:59.999999999Z', '2019-02-29T00:00:00Z', 'day', 'NFC'],
  ['[a-z]+', '(a|b)*c', '(', '%s', '%-5.2f', '%1$^', '%tY', '$1', 'x'.repeat(300)],
  ['people', 'by_age', 'double', '100', '101'],
].flat();

const KEYS = [
  'a',
  'b',
  'data',
  'ref',
  'ts',
  'name',
  '@ref',
  '@obj',
  '@ts',
  '__proto__',
  'constructor',
];

const COLLECTION = form({ collection: 'people' });
const DOCUMENT = form({ ref: COLLECTION, id: '100' });
const INDEX = form({ index: 'by_age' });

/** At this depth, only leaves are made. */
const DEPTH_MAX = 5;

export class QueryMaker {
  /** Names of the forms that were made. */
  readonly made = new Set<string>();
  private readonly random: RandomSource;
  private names: string[] = [];

  constructor(random: RandomSource) {
    this.random = random;
  }

  query(): Part {
    this.names = [];
    return this.expression(0);
  }

  scalar(): Part {
    return this.random.pick(SCALARS);
  }

  /** Any JSON. */
  json(depth = 0): Part {
    const { random } = this;
    const choice = depth >= DEPTH_MAX ? 0 : random.below(3);
    if (choice === 0) return this.scalar();
    if (choice === 1) return random.some(3, () => this.json(depth + 1));
    const keys = random.chance(0.3) ? formKeys(random) : random.some(3, () => random.pick(KEYS));
    return new PartObject(keys.map((key) => [key, this.json(depth + 1)]));
  }

  private expression(depth: number): Part {
    const { random } = this;
    if (depth >= DEPTH_MAX || random.chance(0.15)) return this.leaf();
    const choice = random.next();
    if (choice < 0.65) return this.call(random.pick(FUNCTION_ROWS), depth);
    if (choice < 0.9) return this.basic(depth);
    return choice < 0.95 ? random.some(3, () => this.expression(depth + 1)) : this.json(depth);
  }

  private leaf(): Part {
    const { random } = this;
    if (this.names.length > 0 && random.chance(0.4)) return form({ var: random.pick(this.names) });
    return random.chance(0.6) ? this.scalar() : this.reference();
  }

  private reference(): Part {
    return this.random.pick<Part>([
      COLLECTION,
      DOCUMENT,
      INDEX,
      form({ function: 'double' }),
      form({ match: INDEX, terms: 30 }),
      form({ documents: COLLECTION }),
      form({ collections: null }),
      form({ now: null }),
      form({ '@ts': '2020-01-01T00:00:00Z' }),
      form({ '@bytes': 'AQID' }),
      form({ '@ref': form({ id: '100', collection: form({ '@ref': form({ id: 'people' }) }) }) }),
      form({ query: form({ lambda: 'x', expr: form({ var: 'x' }) }) }),
      form({ ref: COLLECTION, id: '404' }),
      form({ collection: 'nowhere' }),
    ]);
  }

  call(row: FunctionRow, depth: number): Part {
    this.made.add(row.name);
    const members: [string, Part][] = [];
    for (const [key, parameter] of Object.entries(row.form)) {
      if (parameter.optional && this.random.chance(0.6)) continue;
      members.push([key, this.argument(parameter, depth + 1)]);
    }
    return new PartObject(members);
  }

  private argument(parameter: Parameter<unknown>, depth: number): Part {
    const { random } = this;
    if (random.chance(0.05)) return this.expression(depth);
    if (parameter.form === 'lambda') return this.lambda(depth);
    if (parameter.form === 'lambda-or-value')
      return random.chance(0.6) ? this.lambda(depth) : INDEX;
    return random.chance(0.75) ? this.ofType(parameter.type, depth) : this.expression(depth);
  }

  /** An argument for a parameter of this type, as the function table names it. */
  private ofType(type: string, depth: number): Part {
    const { random } = this;
    if (/[*+]$/.test(type) && random.chance(0.7)) {
      return random.some(3, () => this.ofType(type.slice(0, -1), depth + 1));
    }
    const word = random.pick(type.split(' or ')).replace(/[*+]$/, '');
    return this.ofWord(word, depth);
  }

  private ofWord(word: string, depth: number): Part {
    const { random } = this;
    switch (word) {
      case 'Null':
        return null;
      case 'Boolean':
        return random.chance(0.5);
      case 'Integer':
      case 'Number':
        return random.pick(
          SCALARS.filter((each) => typeof each === 'number' || each instanceof Raw),
        );
      case 'String':
      case 'Regex':
      case 'Unit':
        return random.pick(SCALARS.filter((each) => typeof each === 'string'));
      case 'Path':
        return random.some(3, () => random.pick<Part>(['data', 'a', 'ref', 'ts', 0, 'terms']));
      case 'Time':
      case 'Temporal':
        return random.pick<Part>([
          form({ now: null }),
          form({ time: 'now' }),
          form({ date: '2020-01-31' }),
          5,
        ]);
      case 'Object':
        return form({ object: this.members(depth + 1) });
      case 'Array':
      case 'Iterable':
      case 'SetOrArray':
        return random.chance(0.5)
          ? random.some(4, () => this.expression(depth + 1))
          : this.reference();
      default:
        return random.chance(0.5) ? this.reference() : this.expression(depth + 1);
    }
  }

  private members(depth: number): Part {
    const { random } = this;
    const object = new PartObject(
      random.some(3, () => [random.pick(KEYS), this.expression(depth)]),
    );
    return random.chance(0.3) ? form({ '@obj': object }) : object;
  }

  private lambda(depth: number): Part {
    const { random } = this;
    const isPair = random.chance(0.4);
    const names = isPair ? ['x', 'y'] : ['x'];
    const outer = this.names;
    this.names = [...outer, ...names];
    const expr = this.expression(depth + 1);
    this.names = outer;
    return form({ lambda: isPair ? names : random.pick<Part>(['x', ['x'], '_']), expr });
  }

  private basic(depth: number): Part {
    const { random } = this;
    const kind = random.pick(Object.keys(BASIC_FORMS) as (keyof typeof BASIC_FORMS)[]);
    this.made.add(kind);
    const part = (): Part => this.expression(depth + 1);
    switch (kind) {
      case 'let':
        return this.letForm(depth);
      case 'if': {
        const condition = random.chance(0.7) ? random.chance(0.5) : part();
        return new PartObject([
          ['if', condition],
          ['then', part()],
          ['else', part()],
        ]);
      }
      case 'object':
        return form({ object: this.members(depth + 1) });
      case 'query':
        return form({ query: this.lambda(depth + 1) });
      case 'at':
        return form({ at: random.pick<Part>([form({ now: null }), 1, part()]), expr: part() });
      case 'var':
        return this.names.length > 0 ? form({ var: random.pick(this.names) }) : this.leaf();
      case 'quote':
        return form({ quote: this.json(depth + 1) });
      default:
        return form({ [kind]: random.some(3, part) });
    }
  }

  private letForm(depth: number): Part {
    const { random } = this;
    const outer = this.names;
    const bindings: Part[] = [];
    for (const name of random.some(3, () => random.pick(['v', 'w', '__proto__']))) {
      bindings.push(new PartObject([[name, this.expression(depth + 1)]]));
      this.names = [...this.names, name];
    }
    const inner = this.expression(depth + 1);
    this.names = outer;
    return form({ let: bindings, in: inner });
  }
}

const formKeys = (random: RandomSource): readonly string[] =>
  Object.keys(random.pick(FUNCTION_ROWS).form);
