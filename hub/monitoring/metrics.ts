/** Figures for Prometheus. Labels are few and ours: nothing a caller sends becomes one. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface Gauges {
  readonly sockets: () => number;
  readonly requests: () => number;
  readonly streams: () => number;
  readonly passwordsWaiting: () => number;
  readonly roundTrips: () => number;
  readonly bodyBytes: () => number;
  readonly logRecords: () => { readonly recorded: number; readonly lost: number };
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

interface Kept {
  readonly requests: Counter.Internal;
  readonly seconds: Histogram.Internal<'route'>;
}

export class HubMetrics {
  private readonly registry = new Registry();
  private readonly requests: Counter<'route' | 'status'>;
  private readonly seconds: Histogram<'route'>;
  private readonly turnedAway: Counter<'why'>;

  /** By status and route: finding them by labels costs more than counting. */
  private readonly kept = new Map<string, Kept>();

  constructor(gauges: Gauges) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.requests = new Counter({
      name: 'burrow_http_requests_total',
      help: 'Requests answered.',
      labelNames: ['route', 'status'],
      registers,
    });
    this.seconds = new Histogram({
      name: 'burrow_http_request_seconds',
      help: 'From the arrival of a request to its answer; of a stream, to its begin.',
      labelNames: ['route'],
      buckets: SECONDS,
      registers,
    });
    this.turnedAway = new Counter({
      name: 'burrow_turned_away_total',
      help: 'Connections and requests refused for what they are, by bound.',
      labelNames: ['why'],
      registers,
    });
    const show = (name: string, help: string, value: () => number): Gauge =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(value());
        },
      });
    show('burrow_sockets', 'Open connections.', gauges.sockets);
    show('burrow_requests_under_way', 'Requests being answered.', gauges.requests);
    show('burrow_streams', 'Open event streams.', gauges.streams);
    show('burrow_passwords_waiting', 'Passwords that wait to be hashed.', gauges.passwordsWaiting);
    show(
      'burrow_database_round_trips',
      'Packets of statements sent to the database since start.',
      gauges.roundTrips,
    );
    show('burrow_body_bytes', 'Bytes of request bodies in memory.', gauges.bodyBytes);
    show(
      'burrow_log_records',
      'Query log records taken since start.',
      () => gauges.logRecords().recorded,
    );
    show(
      'burrow_log_records_lost',
      'Of these, how many could not be stored.',
      () => gauges.logRecords().lost,
    );
  }

  noteAnswer(route: string, status: number, seconds: number): void {
    const name = `${status} ${route}`;
    let kept = this.kept.get(name);
    if (!kept) {
      kept = {
        requests: this.requests.labels({ route, status }),
        seconds: this.seconds.labels({ route }),
      };
      this.kept.set(name, kept);
    }
    kept.requests.inc();
    kept.seconds.observe(seconds);
  }

  noteTurnedAway(why: string): void {
    this.turnedAway.inc({ why });
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }
}
