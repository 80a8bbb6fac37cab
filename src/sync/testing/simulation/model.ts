/** A model of what a device should have and show, without the code under test: sets and rights as plain conditions. */
import { keyOfHex, withDatabase } from '../../../codec/key.ts';
import type { ReplicaState } from '../../device/state/replica-state.ts';
import { partRange } from '../../protocol/set-parts.ts';
import type { SetPart } from '../../protocol/sets.ts';
import { documentRows, schemaRows, type RawDocument } from './rows-in.ts';
import type { Version } from './sim-hub.ts';

const ROLES = 5;
const COLLECTIONS = 1;
const INDEXES = 3;

/** Rights and names in one state of the hub. */
interface Law {
  readonly seesShared: boolean;
  readonly collections: ReadonlyMap<number, string>;
  readonly indexes: ReadonlyMap<number, string>;
}

const laws = new WeakMap<Version['documents'], Law>();

function lawIn(version: Version): Law {
  const known = laws.get(version.documents);
  if (known) return known;
  const [role] = schemaRows(version, ROLES);
  const names = (native: number) =>
    new Map(schemaRows(version, native).map(({ id, data }) => [Number(id), String(data['name'])]));
  const law = {
    seesShared: role?.body.includes('shared') ?? false,
    collections: names(COLLECTIONS),
    indexes: names(INDEXES),
  };
  laws.set(version.documents, law);
  return law;
}

const isOwnedBy = ({ data }: RawDocument, user: number): boolean => {
  const owner = data['owner'] as { '@ref'?: { i?: string } } | undefined;
  return owner?.['@ref']?.i === String(user + 1);
};

export function maySee(version: Version, user: number, document: RawDocument): boolean {
  const { collections, seesShared } = lawIn(version);
  switch (collections.get(document.collection)) {
    case 'accounts':
    case 'names':
    case 'traps':
      return true;
    case 'notes':
      return isOwnedBy(document, user) || (seesShared && document.data['shared'] === true);
    case 'marks':
      return isOwnedBy(document, user);
    default:
      return false;
  }
}

/** Decided by the data of the document, not by its index entries. */
function isMember(law: Law, user: number, part: SetPart, document: RawDocument): boolean {
  if (part.kind === 'collection') return part.collection === document.collection;
  if (part.kind === 'document')
    return part.collection === document.collection && part.id === document.id;
  if (law.collections.get(document.collection) !== 'notes') return false;
  switch (law.indexes.get(part.index)) {
    case 'notes_by_owner':
      return isOwnedBy(document, user);
    case 'shared_notes':
      return document.data['shared'] === true;
    case 'notes_by_text':
      return document.data['text'] === 'again';
    default:
      return false;
  }
}

/** Whether the device has loaded the part up to this document. */
function isLoadedTo(part: SetPart, place: string | null | undefined, { row, key }: RawDocument) {
  if ((place ?? undefined) === undefined) return true;
  if (place === '') return false;
  const last = withDatabase(0, keyOfHex(String(place)));
  if (part.kind !== 'index') return key <= last;
  const { lower, upper } = partRange(part, 0);
  return row.entries.some((entry) => entry >= lower && entry < upper && entry <= last);
}

/** Time and text of each document that a device of the user should have. */
export function heldBy(
  version: Version,
  user: number,
  sets: ReplicaState['sets'],
): ReadonlyMap<string, string> {
  const law = lawIn(version);
  const wanted = sets.flatMap(({ parts, loaded, error }) =>
    (error ?? undefined) !== undefined || loaded === 'nothing'
      ? []
      : (parts ?? []).map((part, i) => ({ part, place: loaded[i] })),
  );
  const held = new Map<string, string>();
  for (const document of documentRows(version)) {
    const isHeld = wanted.some(
      ({ part, place }) => isMember(law, user, part, document) && isLoadedTo(part, place, document),
    );
    if (isHeld && maySee(version, user, document))
      held.set(nameOf(document), document.ts + document.body);
  }
  return held;
}

export const nameOf = ({ collection, id }: RawDocument): string => `${collection}/${id}`;
