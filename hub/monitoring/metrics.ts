/** Metrics for Prometheus. Labels with names that callers choose are limited in number, so the number of time series stays bounded. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface LongQueryCounts {
  readonly running: number;
  readonly waiting: number;
  readonly threadsStarted: number;
  /** Threads that ended although the pool was not closed. */
  readonly threadsLost: number;
}

export interface Gauges {
  readonly sockets: () => number;
  readonly requests: () => number;
  readonly streams: () => number;
  readonly passwordsWaiting: () => number;
  readonly longQueries: () => LongQueryCounts;
  readonly roundTrips: () => number;
  /** In µs since 1970. */
  readonly lastCommit: () => number;
  readonly bodyBytes: () => number;
  readonly answerBytes: () => number;
  readonly liveQueries: () => number;
  /** The callers refused or delayed most. */
  readonly heldBack: () => readonly {
    readonly limit: string;
    readonly who: string;
    readonly count: number;
  }[];
  readonly logRecords: () => { readonly recorded: number; readonly lost: number };
}

/** Name, help and value of the gauges without labels. */
const GAUGES: readonly (readonly [string, string, (gauges: Gauges) => number])[] = [
  ['burrow_sockets', 'Open connections.', (g) => g.sockets()],
  ['burrow_requests_under_way', 'Requests in progress.', (g) => g.requests()],
  ['burrow_streams', 'Open event streams.', (g) => g.streams()],
  ['burrow_passwords_waiting', 'Passwords waiting to be hashed.', (g) => g.passwordsWaiting()],
  ['burrow_long_queries', 'Long queries that threads execute now.', (g) => g.longQueries().running],
  [
    'burrow_long_queries_waiting',
    'Long queries that wait for a thread.',
    (g) => g.longQueries().waiting,
  ],
  [
    'burrow_query_threads_started',
    'Threads for long queries started since the hub started.',
    (g) => g.longQueries().threadsStarted,
  ],
  [
    'burrow_query_threads_lost',
    'Threads for long queries that failed, or were ended because their query did not end.',
    (g) => g.longQueries().threadsLost,
  ],
  [
    'burrow_database_round_trips',
    'Batches of statements sent to the database since start.',
    (g) => g.roundTrips(),
  ],
  ['burrow_last_commit_timestamp_seconds', 'Time of the last commit.', (g) => g.lastCommit() / 1e6],
  ['burrow_body_bytes', 'Bytes of request bodies in memory.', (g) => g.bodyBytes()],
  ['burrow_answer_bytes', 'Bytes of long answers not yet read.', (g) => g.answerBytes()],
  ['burrow_live_queries', 'Live queries of scripts and pages.', (g) => g.liveQueries()],
  ['burrow_log_records', 'Query log records since start.', (g) => g.logRecords().recorded],
  [
    'burrow_log_records_lost',
    'Query log records that could not be stored.',
    (g) => g.logRecords().lost,
  ],
];

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class HubMetrics {
  private readonly registry = new Registry();
  private readonly requests: Counter<'route' | 'status'>;
  private readonly seconds: Histogram<'route'>;
  private readonly rejections: Counter<'why'>;
  private isRead = false;

  constructor(gauges: Gauges) {
    const registers = [this.registry];
    this.requests = new Counter({
      name: 'burrow_http_requests_total',
      help: 'Requests answered.',
      labelNames: ['route', 'status'],
      registers,
    });
    this.seconds = new Histogram({
      name: 'burrow_http_request_seconds',
      help: 'Time from the arrival of a request to its response, or to the start of its stream.',
      labelNames: ['route'],
      buckets: SECONDS,
      registers,
    });
    this.rejections = new Counter({
      name: 'burrow_turned_away_total',
      help: 'Connections and requests refused, by limit.',
      labelNames: ['why'],
      registers,
    });
    for (const [name, help, value] of GAUGES)
      this.registry.registerMetric(
        new Gauge({
          name,
          help,
          registers: [],
          collect() {
            this.set(value(gauges));
          },
        }),
      );
    const heldBack = new Gauge({
      name: 'burrow_held_back',
      help: 'Requests and streams refused since the hub started (limit turn: delayed), for the callers refused most: an address, the document of a token or key, or a database.',
      labelNames: ['limit', 'who'],
      registers: [],
      collect() {
        this.reset();
        for (const { limit, who, count } of gauges.heldBack()) this.set({ limit, who }, count);
      },
    });
    this.registry.registerMetric(heldBack);
  }

  countResponse(route: string, status: number, seconds: number): void {
    this.requests.inc({ route, status });
    this.seconds.observe({ route }, seconds);
  }

  countRejection(why: string): void {
    this.rejections.inc({ why });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    // Only a hub that is monitored measures the delays of its event loop: for this, the process wakes up 100 times a second.
    if (!this.isRead) collectDefaultMetrics({ register: this.registry });
    this.isRead = true;
    return this.registry.metrics();
  }
}
