/** Checks the `instance` of tokens and credentials. */
import { isNative } from '../../values/native-kinds.ts';
import { isKind, type Ref } from '../../values/value.ts';
import { refuseMissing, refuseType, type Draft } from './draft.ts';

export function checkInstance(draft: Draft): void {
  const instance = draft.fields.get('instance');
  if (instance === undefined) refuseMissing(draft, ['instance']);
  else if (!isKind(instance, 'ref') || isSchemaRef(instance)) {
    refuseType(draft, ['instance'], instance, 'Ref');
  }
}

/** Only documents can be identities. */
const isSchemaRef = ({ collection }: Ref): boolean => isNative(collection);
