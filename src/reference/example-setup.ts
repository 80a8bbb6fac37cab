/** The queries that create the database of the reference's examples. */
export const SETUP: readonly string[] = [
  'CreateCollection({ name: "users" })',
  'CreateCollection({ name: "notes" })',
  `Create(Ref(Collection("users"), "1"), {
  data: { name: "Ada", email: "ada@example.org" }, credentials: { password: "correct horse" } })`,
  'Create(Ref(Collection("users"), "2"), { data: { name: "Ben", email: "ben@example.org" } })',
  `Create(Ref(Collection("notes"), "101"), { data: {
  title: "Heron at dawn", tags: ["bird", "river"], stars: 5, author: Ref(Collection("users"), "1") } })`,
  `Create(Ref(Collection("notes"), "102"), { data: {
  title: "Red fox", tags: ["mammal"], stars: 3, author: Ref(Collection("users"), "2") } })`,
  `Create(Ref(Collection("notes"), "103"), { data: {
  title: "Kingfisher", tags: ["bird"], stars: 4, author: Ref(Collection("users"), "1") } })`,
  'CreateIndex({ name: "notes_by_tag", source: Collection("notes"), terms: [{ field: ["data", "tags"] }] })',
  'CreateIndex({ name: "notes_by_author", source: Collection("notes"), terms: [{ field: ["data", "author"] }] })',
  `CreateIndex({ name: "notes_by_stars", source: Collection("notes"),
  values: [{ field: ["data", "stars"] }, { field: ["data", "title"] }, { field: ["ref"] }] })`,
  'CreateIndex({ name: "users_by_email", source: Collection("users"), unique: true, terms: [{ field: ["data", "email"] }] })',
  'CreateFunction({ name: "double", body: Query(Lambda("x", Multiply(Var("x"), 2))) })',
  'CreateRole({ name: "reader", privileges: [{ resource: Collection("notes"), actions: { read: true } }] })',
  'CreateDatabase({ name: "shop" })',
  'CreateDatabase({ name: "cellar" })',
];
