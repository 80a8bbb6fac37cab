// Which room may look where. Direction: errors, limits <- values <- codec <- store <- query <- engine <- logs, http, sync.

/** Tests, suites and arbitraries may look anywhere: they are in no bundle. */
const TESTS =
  '\\.(test|contract|bench|test-d)\\.tsx?$|/arbitrary\\.ts$|/testing/|^in-process/examples/';

/** Type imports leave nothing behind, but they couple rooms all the same: they count, except where a rule says so. */
const room = (name, ...below) => ({
  name: `${name}-looks-down`,
  comment: `src/${name} may look at ${below.join(', ')} and itself; it names no package and no host.`,
  from: { path: `^src/${name}(/|\\.ts$)`, pathNot: TESTS },
  to: { pathNot: `^src/(${[name, ...below].join('|')})(/|\\.ts$)` },
});

/** A room that stands beside the page in the package, as hooks do: of the sources it imports itself, `src/index.ts` and these files. */
const usesThePackage = (name, comment, files = []) => ({
  name: `${name}-uses-the-package`,
  comment: `src/${name} is written against src/index.ts, as hooks are. ${comment}`,
  from: { path: `^src/${name}/`, pathNot: TESTS },
  to: {
    pathNot: `^src/(${[`${name}/`, ...['index', ...files].map((file) => `${file}\\.ts$`)].join('|')})`,
  },
});

/**
 * Rooms inside a folder: each may import those before it. Files directly in the folder are its door, above all of them; `base` names
 * those that every room may import all the same.
 */
const roomsOf = (folder, rooms, base = []) =>
  rooms.map((room, at) => ({
    name: `${folder}/${room}-looks-down`,
    comment: `${folder}/${room} may import ${['itself', ...rooms.slice(0, at)].join(', ')}.`,
    from: { path: `^${folder}/${room}/`, pathNot: TESTS },
    to: {
      path: `^${folder}/`,
      pathNot: [
        `^${folder}/(${rooms.slice(0, at + 1).join('|')})/`,
        ...base.map((file) => `^${folder}/${file}\\.ts$`),
      ],
    },
  }));

const values = ['answers', 'errors', 'fault-texts', 'limits', 'states'];
const codec = [...values, 'values'];
const store = [...codec, 'codec'];
const query = [...store, 'store'];
const engine = [...query, 'query'];
const outer = [...engine, 'engine'];

/** Rooms inside src/sync, each after those it may look at. */
const SYNC_ROOMS = {
  device: ['state', 'view', 'rebase', 'outbox', 'pulled', 'replica', 'syncer', 'files'],
  hub: ['rows', 'rights', 'files', 'sets', 'push', 'pull', 'hints', 'pruning'],
};
/** Rooms of one list that look at none of the others in it. */
const SYNC_APART = {
  push: ['pull'],
  pull: ['push'],
  hints: ['push'],
  pruning: ['push', 'pull', 'hints'],
};

const WORKER_ROOMS = [
  'browser',
  'tabs',
  'store',
  'passwords',
  'lock',
  'queries',
  'service-worker',
  'files',
  'sync',
  'diagnostics',
  'opening',
];

const syncSide = (side) =>
  SYNC_ROOMS[side].map((name, place, rooms) => {
    const below = rooms.slice(0, place + 1).filter((each) => !SYNC_APART[name]?.includes(each));
    return {
      name: `sync-${side}-${name}-looks-down`,
      comment: `src/sync/${side}/${name} may look at src/sync/protocol, ${below.join(', ')}, and rooms left of sync.`,
      from: { path: `^src/sync/${side}/${name}/`, pathNot: TESTS },
      to: {
        path: '^src/sync/',
        pathNot: `^src/sync/(protocol|${side}/(${below.join('|')}))/`,
      },
    };
  });

const onlyFrom = (name, packages, ...rooms) => ({
  name: `only-${name}`,
  comment: `${packages} is named by ${rooms.join(' and ')} alone.`,
  from: {
    path: '^(src|worker|hub|hosts|in-process|inspector|demo|e2e)/',
    pathNot: [...rooms.map((path) => `^${path}/`), TESTS],
  },
  to: { path: `node_modules/(${packages})/` },
});

const RULES = [
  {
    name: 'no-cycles',
    comment:
      'Two files that need each other are one idea, or hide a third. Types too: who reads one of them has to read both.',
    from: { pathNot: '^src/sync/testing/' },
    to: { circular: true },
  },
  {
    name: 'no-broken-imports',
    // What these import is put beside them when they are built.
    from: { pathNot: '^(e2e|bench|e2e/browsers)/page/' },
    // Tests that a guide shows import the package by its name: it is there when it has been built.
    to: { couldNotResolve: true, pathNot: '^(virtual:|burrowdb($|/))' },
  },
  {
    name: 'no-undeclared-packages',
    comment: 'A package that package.json does not name works by luck.',
    from: { path: '^(src|worker|hub|hosts|in-process|inspector|demo|e2e|bench)/' },
    to: {
      dependencyTypes: ['npm-no-pkg', 'npm-unknown'],
      // An optional peer is named under `peerDependenciesMeta` too, which is taken for no place at all.
      dependencyTypesNot: ['npm-dev', 'npm-peer'],
    },
  },
  room('errors'),
  room('fault-texts', 'errors'),
  room('limits', 'errors'),
  room('states'),
  room('answers'),
  room('values', ...values),
  room('codec', ...codec),
  room('store', ...store),
  room('packed', ...query),
  room('query', ...query),
  room('engine', ...engine),
  ...roomsOf('src/engine', [
    'catalog',
    'context',
    'transactions',
    'documents',
    'access',
    'writes',
    'sets',
    'session',
    'jobs',
  ]),
  {
    name: 'engine-has-a-door',
    comment:
      'Who is outside the engine imports files directly in src/engine, where the names of a room that are for others are listed one by one.',
    from: { pathNot: '^src/engine/' },
    to: { path: '^src/engine/.+/', pathNot: '^src/engine/testing/' },
  },
  room('logs', ...outer),
  room('sync', ...outer),
  {
    name: 'sync-protocol-looks-down',
    comment: 'What both sides of a sync share knows neither of them.',
    from: { path: '^src/sync/protocol/', pathNot: TESTS },
    to: { path: '^src/sync/', pathNot: '^src/sync/protocol/' },
  },
  ...syncSide('device'),
  ...syncSide('hub'),
  {
    name: 'sync-sides-are-apart',
    comment: 'A device and its hub meet in messages only.',
    from: { path: '^src/sync/(device|hub)/', pathNot: TESTS },
    to: { path: '^src/sync/(device|hub)/', pathNot: '^src/sync/$1/' },
  },
  {
    name: 'no-cycles-in-sync-kits',
    comment: 'Test kits of sync too: the simulation is read from the clock up.',
    from: { path: '^src/sync/' },
    to: { path: '^src/sync/', circular: true },
  },
  room('data', ...store),
  room('http', ...outer, 'logs'),
  room('host', ...codec),
  {
    name: 'client-stays-light',
    comment:
      'src/client is what the page loads: values, wire codec, the contract with the worker and Comlink. It reaches the engine by URL only.',
    from: { path: '^src/client/', pathNot: TESTS },
    to: {
      pathNot:
        '^src/(client|host|values|codec|answers|errors|limits|states)(/|\\.ts$)|node_modules/comlink/',
    },
  },
  ...roomsOf(
    'src/client',
    ['queries', 'connection', 'live', 'logs', 'files', 'sync'],
    ['errors', 'read-options', 'typed-events'],
  ),
  {
    name: 'hooks-use-the-package',
    comment:
      'src/hooks is written as a user would write it, against src/index.ts: so that it stands beside the page in the package.',
    from: { path: '^src/hooks/', pathNot: TESTS },
    to: { pathNot: '^src/(hooks/|index\\.ts$)|node_modules/' },
  },
  usesThePackage('adopt', 'It reads and submits as any app does. It refuses options as all do.', [
    'values/wrong-options',
  ]),
  usesThePackage('background', 'It also makes the tag that a service worker reads.', [
    'host/background',
  ]),
  usesThePackage(
    'schema',
    'All it does are queries of a client. It refuses options, and tells expressions, as all do.',
    ['values/wrong-options', 'client/queries/is-expr'],
  ),
  {
    name: 'hooks-core-knows-no-framework',
    from: { path: '^src/hooks/core/', pathNot: TESTS },
    to: { pathNot: '^src/(hooks/core/|index\\.ts$)' },
  },
  {
    name: 'inspector-uses-the-package',
    comment:
      'The inspector stands beside the page in the package: it uses that by its public names, and knows the messages of the worker.',
    from: { path: '^inspector/', pathNot: TESTS },
    to: {
      pathNot: '^(inspector/|src/index\\.ts$|src/host/(denied-form|diagnostics|sync)\\.ts$)',
    },
  },
  {
    name: 'nobody-imports-inspector',
    comment: 'Who does not open it loads nothing of it.',
    from: { path: '^(src|worker|hub|hosts|in-process)/', pathNot: TESTS },
    to: { path: '^inspector/' },
  },
  {
    name: 'nobody-imports-hooks-and-schema',
    comment: 'Who does not use a framework, or schemas, loads nothing of them.',
    from: { path: '^(src|worker|hub|hosts)/', pathNot: ['^src/(hooks|schema)/', TESTS] },
    to: { path: '^src/(hooks|schema)/' },
  },
  {
    name: 'index-names-the-client',
    comment: 'src/index.ts lists the public names of src/client; types may come from their rooms.',
    from: { path: '^src/index\\.ts$' },
    to: { pathNot: '^src/(client|errors)(/|\\.ts$)', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'hosts-know-no-client',
    comment:
      'worker/ and hub/ stand on the engine; what they share with the page is src/host, with each other hosts/.',
    from: { path: '^(worker|hub|hosts)/', pathNot: TESTS },
    to: { path: '^src/(client/|index\\.ts$)' },
  },
  {
    name: 'hosts-are-apart',
    from: { path: '^(worker|hub|hosts)/', pathNot: TESTS },
    to: { path: '^(worker|hub)/', pathNot: '^$1/' },
  },
  {
    name: 'in-process-joins-page-and-host',
    comment:
      'in-process/ puts the page, by its public names, over hosts in the same process. It stands beside index.js in the package.',
    from: { path: '^in-process/', pathNot: TESTS },
    to: { path: '^(src/client/|src/hooks/|demo|e2e|bench)' },
  },
  {
    name: 'nobody-imports-in-process',
    from: { path: '^(src|worker|hub|hosts)/', pathNot: TESTS },
    to: { path: '^in-process/' },
  },
  ...roomsOf('worker', WORKER_ROOMS),
  {
    name: 'worker/background-opens-a-database',
    comment: 'worker/background is above the other rooms, and above what opens a database.',
    from: { path: '^worker/background/', pathNot: TESTS },
    to: {
      path: '^worker/',
      pathNot: `^worker/((${WORKER_ROOMS.join('|')}|background)/|open-database\\.ts$)`,
    },
  },
  ...roomsOf('hub', [
    'settings',
    'monitoring',
    'event-loop',
    'sql',
    'store',
    'passwords',
    'evaluators',
    'instance',
    'admission',
    'connections',
    'http',
    'live',
    'sync',
    'files',
    'operations',
    'cli',
  ]),
  {
    name: 'src-knows-no-host',
    from: { path: '^src/', pathNot: TESTS },
    to: { path: '^(worker|hub|hosts|demo|e2e|scripts)/' },
  },
  {
    name: 'bundlers-know-the-package',
    comment: 'The plugins of bundlers run in Node, beside the built files, and read these.',
    from: { path: '^bundlers/' },
    to: { path: '^(src|worker|hub|hosts|demo|e2e|bench|scripts)/' },
  },
  {
    name: 'nobody-imports-bench',
    from: { pathNot: '^bench/' },
    to: { path: '^bench/' },
  },
  {
    name: 'demo-uses-the-package',
    comment: 'The demo is written as a user would write it: against the entries of the package.',
    from: { path: '^demo/', pathNot: TESTS },
    to: { path: '^(src|worker|hub|hosts|e2e|bench)/', pathNot: '^src/(index|adopt/adopt)\\.ts$' },
  },
  {
    name: 'e2e-from-outside',
    comment:
      'End-to-end tests drive the package, the demo and the hub from outside; who judges histories, and who reads blocks, is a tool of tests.',
    from: { path: '^e2e/' },
    to: {
      path: '^(src|worker|hub|hosts|demo|bench)/',
      pathNot:
        '^(src/(index|adopt/adopt|background/background|data/data|schema/schema|packed/testing/by-hand)|hub/testing/history-checker)\\.ts$',
    },
  },
  onlyFrom(
    'worker-names-its-packages',
    'dexie|bcryptjs|jose|@noble/hashes',
    'worker',
    'hub',
    'hosts',
    'in-process',
  ),
  onlyFrom('the-edge-names-comlink', 'comlink', 'worker', 'src/client'),
  onlyFrom(
    'hooks-name-frameworks',
    '@tanstack/db|react|react-dom|solid-js|svelte|vue|@vue/.*',
    'src/hooks',
  ),
];

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: RULES.map((rule) => ({ ...rule, severity: 'error' })),
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|demo-dist|bench/out|bench/rivals)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'browser', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json', '.d.ts'],
    },
  },
};
