import { readFileSync } from 'node:fs';
import perf from 'node:perf_hooks';
import { expect, test, vi } from 'vitest';
import { HubMetrics, type Gauges } from './metrics.ts';

const gauges: Gauges = {
  sockets: () => 1,
  requests: () => 2,
  streams: () => 3,
  passwordsWaiting: () => 4,
  longQueries: () => ({ running: 5, waiting: 6, threadsStarted: 7, threadsLost: 8 }),
  roundTrips: () => 9,
  lastCommit: () => 15_000_000,
  bodyBytes: () => 10,
  answerBytes: () => 11,
  liveQueries: () => 12,
  heldBack: () => [],
  logRecords: () => ({ recorded: 13, lost: 14 }),
};

/** The lines of a metric, without its help and type. */
const linesOf = (text: string, name: string): readonly string[] =>
  text.split('\n').filter((line) => line.startsWith(name));

test('the metrics show each gauge with its own value', async () => {
  const text = await new HubMetrics(gauges).text();
  const values = [...text.matchAll(/^burrow_(\w+) (\d+)$/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  expect(Object.fromEntries(values)).toMatchObject({
    sockets: '1',
    requests_under_way: '2',
    streams: '3',
    passwords_waiting: '4',
    long_queries: '5',
    long_queries_waiting: '6',
    query_threads_started: '7',
    query_threads_lost: '8',
    database_round_trips: '9',
    last_commit_timestamp_seconds: '15',
    body_bytes: '10',
    answer_bytes: '11',
    live_queries: '12',
    log_records: '13',
    log_records_lost: '14',
  });
});

test('the delays of the event loop, whose measurement wakes the process 100 times a second, are measured from the first request for the metrics', async () => {
  const monitor = vi.spyOn(perf, 'monitorEventLoopDelay');
  const metrics = new HubMetrics(gauges);
  expect(monitor).toHaveBeenCalledTimes(0);
  expect(linesOf(await metrics.text(), 'nodejs_eventloop_lag_p99_seconds ')).toHaveLength(1);
  await metrics.text();
  expect(monitor).toHaveBeenCalledTimes(1);
  monitor.mockRestore();
});

test('the board and the alerts of ops/monitoring only name existing metrics', async () => {
  const text = await new HubMetrics(gauges).text();
  for (const file of ['board.json', 'alerts.yml']) {
    const asked = readFileSync(new URL(`../../ops/monitoring/${file}`, import.meta.url), 'utf8');
    // Metrics of Patroni do not come from the hub.
    const names = new Set(asked.match(/\b(?:burrow|nodejs|process)_\w+/g));
    expect(names.size, file).toBeGreaterThan(2);
    for (const name of names)
      expect(text, file).toContain(`# TYPE ${name.replace(/_bucket$/, '')} `);
  }
});

test('the metrics list callers only while they are among the most refused', async () => {
  let heldBack: ReturnType<Gauges['heldBack']> = [
    { limit: 'token rate', who: 'token 123', count: 5 },
    { limit: 'turn', who: 'database a/"b"', count: 2 },
  ];
  const metrics = new HubMetrics({ ...gauges, heldBack: () => heldBack });
  expect(linesOf(await metrics.text(), 'burrow_held_back')).toEqual([
    'burrow_held_back{limit="token rate",who="token 123"} 5',
    'burrow_held_back{limit="turn",who="database a/\\"b\\""} 2',
  ]);
  heldBack = [{ limit: 'turn', who: 'database c', count: 9 }];
  expect(linesOf(await metrics.text(), 'burrow_held_back')).toEqual([
    'burrow_held_back{limit="turn",who="database c"} 9',
  ]);
});

test('refusals are counted by limit, and responses by route and status', async () => {
  const metrics = new HubMetrics(gauges);
  for (const why of ['sockets', 'token rate', 'token rate']) metrics.countRejection(why);
  metrics.countResponse('query', 200, 0.002);
  metrics.countResponse('query', 429, 0.2);
  const text = await metrics.text();
  expect(linesOf(text, 'burrow_turned_away_total')).toEqual([
    'burrow_turned_away_total{why="sockets"} 1',
    'burrow_turned_away_total{why="token rate"} 2',
  ]);
  expect(linesOf(text, 'burrow_http_requests_total')).toEqual([
    'burrow_http_requests_total{route="query",status="200"} 1',
    'burrow_http_requests_total{route="query",status="429"} 1',
  ]);
  expect(text).toContain('burrow_http_request_seconds_bucket{le="0.0025",route="query"} 1');
});
