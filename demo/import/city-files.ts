/** The city files that the demo ships. build/city-data.mjs generates them. */
export interface CityList {
  readonly source: string;
  readonly total: number;
  readonly fields: readonly string[];
  readonly rowsPerFile: number;
  readonly files: readonly string[];
  /** Number of cities, by country code. */
  readonly countries: Readonly<Record<string, number>>;
}

export interface City {
  readonly cityId: number;
  readonly name: string;
  readonly altName: string;
  readonly country: string;
  readonly featureCode: string;
  readonly adminCode: string;
  readonly population: number;
  /** GeoJSON: longitude, latitude. */
  readonly loc: { readonly type: 'Point'; readonly coordinates: readonly [number, number] };
}

export const fetchCityList = async (signal: AbortSignal): Promise<CityList> =>
  (await fetchJson('cities.json', signal)) as CityList;

export async function fetchCities(
  list: CityList,
  file: number,
  signal: AbortSignal,
): Promise<readonly City[]> {
  const name = list.files[file];
  if (name === undefined) return [];
  const rows = (await fetchJson(name, signal)) as readonly (readonly unknown[])[];
  return rows.map((row) => cityOf(list.fields, row));
}

function cityOf(fields: readonly string[], row: readonly unknown[]): City {
  const { longitude, latitude, ...members } = Object.fromEntries(
    fields.map((name, at) => [name, row[at]]),
  ) as Omit<City, 'loc'> & { readonly longitude: number; readonly latitude: number };
  return { ...members, loc: { type: 'Point', coordinates: [longitude, latitude] } };
}

async function fetchJson(name: string, signal: AbortSignal): Promise<unknown> {
  const url = new URL(`data/${name}`, document.baseURI);
  const answer = await fetch(url, { signal }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new Error(
      'The cities cannot be downloaded: there is no network. Cities that are already imported stay.',
      {
        cause,
      },
    );
  });
  if (!answer.ok)
    throw new Error(`The server responded with ${answer.status} for ${url.pathname}.`);
  return answer.json();
}
