export interface Example {
  readonly label: string;
  readonly text: string;
}

export const EXAMPLES: readonly Example[] = [
  {
    label: 'The five largest cities of Japan',
    text: `Map(
  Paginate(Match(Index("cities_by_country_population"), "JP"), { size: 5 }),
  (population, ref) => ({
    name: Select(["data", "name"], Get(ref)),
    population: population
  })
)`,
  },
  {
    label: 'French cities from “Saint-M”',
    text: `Paginate(
  Match(Index("cities_by_country"), "FR"),
  { after: ["Saint-M"], size: 10 }
)`,
  },
  {
    label: 'A city by its unique id',
    text: `Get(Match(Index("cities_by_id"), 2950159))`,
  },
  {
    label: 'All versions of a city',
    text: `Paginate(
  Ref(Collection("cities"), "2950159"),
  { events: true }
)`,
  },
  {
    label: 'Cities between two populations',
    text: `Paginate(
  Range(
    Match(Index("cities_by_country_population"), "ES"),
    [500000],
    [200000]
  )
)`,
  },
  {
    label: 'Create an index by feature code',
    text: `CreateIndex({
  name: "cities_by_kind",
  source: Collection("cities"),
  terms: [{ field: ["data", "featureCode"] }],
  values: [{ field: ["data", "name"] }, { field: ["ref"] }]
})`,
  },
  {
    label: 'Notes you may read (run as Ada, Ed or Rita)',
    text: `Map(
  Paginate(Documents(Collection("notes"))),
  ref => Select(["data", "text"], Get(ref))
)`,
  },
  {
    label: 'Change a note of Ada’s (fails for Ed and Rita)',
    text: `Update(
  Ref(Collection("notes"), "4"),
  { data: { published: false } }
)`,
  },
  { label: 'Who am I? (run as an account)', text: 'CurrentIdentity()' },
];
