/**
 * The 209 forms that the specification lists for API version 4, by page of the reference. The list is independent of
 * the table of forms, so that the coverage of the table can be counted against it. Spec: functions 0a and 1.
 */
const list = (names: string): readonly string[] => names.trim().split(/\s+/);

export const LANGUAGE: Readonly<Record<string, readonly string[]>> = {
  control: list(`
    abort and at call do equals gt gte if let lt lte new_id next_id not now object or query quote
    var
  `),
  selecting: list(`
    contains contains_field contains_path contains_value select select_all select_as_index
  `),
  arrays: list(`
    all any append count distinct drop filter first foreach is_empty is_nonempty last map max mean
    min prepend reduce reverse sum take
  `),
  objects: list(`
    merge to_array to_object
  `),
  strings: list(`
    casefold concat containsstr containsstrregex endswith findstr findstrregex format length
    lowercase ltrim ngram regexescape repeat replacestr replacestrregex rtrim space startswith
    substring titlecase trim uppercase
  `),
  numbers: list(`
    abs acos add asin atan bitand bitnot bitor bitxor ceil cos cosh degrees divide exp floor hypot
    ln log modulo multiply pow radians round sign sin sinh sqrt subtract tan tanh trunc
  `),
  time: list(`
    date day_of_month day_of_week day_of_year epoch hour minute month second time time_add
    time_diff time_subtract to_micros to_millis to_seconds year
  `),
  types: list(`
    is_array is_boolean is_bytes is_collection is_credentials is_database is_date is_doc is_double
    is_function is_index is_integer is_key is_lambda is_null is_number is_object is_ref is_role
    is_set is_string is_timestamp is_token is_uuid to_date to_double to_integer to_number
    to_string to_time
  `),
  refs: list(`
    access_provider access_providers class classes collection collections credentials database
    databases function functions index indexes keys ref role roles tokens
  `),
  sets: list(`
    difference documents events intersection join match range singleton union
  `),
  reads: list(`
    exists get key_from_secret paginate
  `),
  writes: list(`
    create create_access_provider create_class create_collection create_database create_function
    create_index create_key create_role delete insert move_database remove replace update
  `),
  identity: list(`
    current_identity current_token has_current_identity has_current_token has_identity identify
    identity login logout
  `),
};
