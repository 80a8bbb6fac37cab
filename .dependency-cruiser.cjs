// Which room may import which. Direction: errors, limits <- values <- codec <- store <- query <- engine <- logs, http, sync.

/** Tests, test suites and arbitraries may import anything, because no bundle contains them. */
const TESTS =
  '\\.(test|contract|bench|test-d)\\.tsx?$|/arbitrary\\.ts$|/testing/|^in-process/examples/';

/** Type imports are checked too, except where a rule says otherwise: they vanish from the code, but they couple the rooms. */
const room = (name, ...below) => ({
  name: `${name}-looks-down`,
  comment: `src/${name} may import ${[...below, 'itself'].join(', ')}. It imports no package and no host.`,
  from: { path: `^src/${name}(/|\\.ts$)`, pathNot: TESTS },
  to: { pathNot: `^src/(${[name, ...below].join('|')})(/|\\.ts$)` },
});

/** A room that is a separate entry of the package, as hooks are: it may import itself, `src/index.ts` and the listed files. */
const usesThePackage = (name, comment, files = []) => ({
  name: `${name}-uses-the-package`,
  comment: `src/${name} uses the public names of src/index.ts, as hooks do. ${comment}`,
  from: { path: `^src/${name}/`, pathNot: TESTS },
  to: {
    pathNot: `^src/(${[`${name}/`, ...['index', ...files].map((file) => `${file}\\.ts$`)].join('|')})`,
  },
});

/**
 * Rooms inside a folder: each may import those before it. Files directly in the folder are its entry and may import all of them.
 * `base` lists such files that the rooms may import nevertheless.
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

/** Rooms inside src/sync, each after those that it may import. */
const SYNC_ROOMS = {
  device: ['state', 'view', 'rebase', 'outbox', 'pulled', 'replica', 'syncer', 'files'],
  hub: ['rows', 'rights', 'files', 'sets', 'push', 'pull', 'hints', 'pruning'],
};
/** Rooms of the same list that may not import these earlier ones. */
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
      comment: `src/sync/${side}/${name} may import src/sync/protocol, ${below.join(', ')}, and the rooms below sync.`,
      from: { path: `^src/sync/${side}/${name}/`, pathNot: TESTS },
      to: {
        path: '^src/sync/',
        pathNot: `^src/sync/(protocol|${side}/(${below.join('|')}))/`,
      },
    };
  });

const onlyFrom = (name, packages, ...rooms) => ({
  name: `only-${name}`,
  comment: `Only ${rooms.join(' and ')} may import ${packages}.`,
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
      'Two files that import each other are one idea, or hide a third one. This includes types: to understand one file, a reader would need both.',
    from: { pathNot: '^src/sync/testing/' },
    to: { circular: true },
  },
  {
    name: 'no-broken-imports',
    // The build places the files that these import beside them.
    from: { pathNot: '^(e2e|bench|e2e/browsers)/page/' },
    // Tests that are shown in a guide import the package by its name, which exists only after the build.
    to: { couldNotResolve: true, pathNot: '^(virtual:|burrowdb($|/))' },
  },
  {
    name: 'no-undeclared-packages',
    comment: 'A package that package.json does not list is installed only by chance.',
    from: { path: '^(src|worker|hub|hosts|in-process|inspector|demo|e2e|bench)/' },
    to: {
      dependencyTypes: ['npm-no-pkg', 'npm-unknown'],
      // dependency-cruiser does not count `peerDependenciesMeta`, where optional peers are listed, as a known kind.
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
      'Code outside the engine imports only the files directly in src/engine, which list the public names of each room.',
    from: { pathNot: '^src/engine/' },
    to: { path: '^src/engine/.+/', pathNot: '^src/engine/testing/' },
  },
  room('logs', ...outer),
  room('sync', ...outer),
  {
    name: 'sync-protocol-looks-down',
    comment: 'Code that both sides of sync share may import neither of them.',
    from: { path: '^src/sync/protocol/', pathNot: TESTS },
    to: { path: '^src/sync/', pathNot: '^src/sync/protocol/' },
  },
  ...syncSide('device'),
  ...syncSide('hub'),
  {
    name: 'sync-sides-are-apart',
    comment: 'A device and its hub share nothing but messages.',
    from: { path: '^src/sync/(device|hub)/', pathNot: TESTS },
    to: { path: '^src/sync/(device|hub)/', pathNot: '^src/sync/$1/' },
  },
  {
    name: 'no-cycles-in-sync-kits',
    comment:
      'This includes the test kits of sync: the simulation can be read from the clock upwards.',
    from: { path: '^src/sync/' },
    to: { path: '^src/sync/', circular: true },
  },
  room('data', ...store),
  room('http', ...outer, 'logs'),
  room('host', ...codec),
  {
    name: 'client-stays-light',
    comment:
      'src/client is loaded by the page: values, wire codec, the interface of the worker, and Comlink. It reaches the engine only by the URL of the worker.',
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
      'src/hooks uses only the public names of src/index.ts, as a user would, because it is a separate entry of the package.',
    from: { path: '^src/hooks/', pathNot: TESTS },
    to: { pathNot: '^src/(hooks/|index\\.ts$)|node_modules/' },
  },
  usesThePackage('adopt', 'It reads and submits like any app, and shares the checks of options.', [
    'values/wrong-options',
  ]),
  usesThePackage('background', 'It also creates the tag that the service worker reads.', [
    'host/background',
  ]),
  usesThePackage(
    'schema',
    'All its work is done by queries of a client. It shares the checks of options and of expressions.',
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
      'The inspector is a separate entry of the package: it uses the public names, and the messages of the worker.',
    from: { path: '^inspector/', pathNot: TESTS },
    to: {
      pathNot: '^(inspector/|src/index\\.ts$|src/host/(denied-form|diagnostics|sync)\\.ts$)',
    },
  },
  {
    name: 'nobody-imports-inspector',
    comment: 'Pages that do not open the inspector load nothing of it.',
    from: { path: '^(src|worker|hub|hosts|in-process)/', pathNot: TESTS },
    to: { path: '^inspector/' },
  },
  {
    name: 'nobody-imports-hooks-and-schema',
    comment: 'Pages that use no framework or no schemas load nothing of them.',
    from: { path: '^(src|worker|hub|hosts)/', pathNot: ['^src/(hooks|schema)/', TESTS] },
    to: { path: '^src/(hooks|schema)/' },
  },
  {
    name: 'index-names-the-client',
    comment:
      'src/index.ts lists the public names of src/client. It may import types from other rooms.',
    from: { path: '^src/index\\.ts$' },
    to: { pathNot: '^src/(client|errors)(/|\\.ts$)', dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'hosts-know-no-client',
    comment:
      'worker/ and hub/ are built on the engine. They share src/host with the page, and hosts/ with each other.',
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
      'in-process/ connects the public names of the page to hosts in the same process. It is a separate entry of the package.',
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
    comment: 'worker/background may import all other rooms, and the file that opens a database.',
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
    comment: 'The plugins for bundlers run in Node beside the built files, and read those.',
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
    comment: 'The demo uses only the entries of the package, as a user would.',
    from: { path: '^demo/', pathNot: TESTS },
    to: { path: '^(src|worker|hub|hosts|e2e|bench)/', pathNot: '^src/(index|adopt/adopt)\\.ts$' },
  },
  {
    name: 'e2e-from-outside',
    comment:
      'End-to-end tests use the package, the demo and the hub from outside. The checker of histories and the reader of blocks are test tools.',
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
