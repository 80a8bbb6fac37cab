// One process of cold.mjs: `measure.mjs <task> <data> <workload> <program…>`. Prints the times of each program as JSON, in µs of CPU time.
const [, , task = '', data = '', workload = '', ...programs] = process.argv;
/** @type {typeof import('./queries.ts')[]} */
const engines = [];
for (const program of programs) engines.push(await import(program));

/** Numbers of queries: `before` for warming up, then `counted` for the result. */
const COUNTS = { few: { before: 10, counted: 49 }, many: { before: 1200, counted: 800 } };

/** Alternates between the programs, so that the load of the machine affects all of them alike. @param {'few' | 'many'} name */
async function inTurn(name) {
  const runners = engines.map(({ runnerOf }) => runnerOf(workload, data));
  const figures = runners.map(() => /** @type {number[]} */ ([]));
  const { before, counted } = COUNTS[name];
  for (let at = 0; at < before + counted; at += 1) {
    for (let turn = 0; turn < runners.length; turn += 1) {
      const side = (at + turn) % runners.length;
      const micros = await runners[side]?.(at);
      if (at >= before && micros !== undefined) figures[side]?.push(micros);
    }
  }
  return figures;
}

if (task === 'fill') await engines[0]?.fill(data);
else if (task === 'names') console.log(JSON.stringify(engines[0]?.workloads));
else if (task === 'first') console.log(JSON.stringify([await engines[0]?.firstTen(data)]));
else console.log(JSON.stringify(await inTurn(task === 'few' ? 'few' : 'many')));
