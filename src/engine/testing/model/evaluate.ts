/** The evaluator of the reference model: recursion over the wire query, with one function for each form. */
import { PartObject, type Part } from '../query-text.ts';
import { Call, type Evaluator, type Form, type Scope } from './call.ts';
import { Fault, type Position } from './casts.ts';
import type { Database } from './database.ts';
import { DOCUMENT_FORMS } from './document-forms.ts';
import { Documents } from './documents.ts';
import { PLAIN_FORMS } from './plain-forms.ts';
import { SET_FORMS } from './set-forms.ts';
import { scalarOf, Silent, type Value } from './values.ts';

const FORMS: Readonly<Record<string, Form>> = { ...PLAIN_FORMS, ...SET_FORMS, ...DOCUMENT_FORMS };

export class Model implements Evaluator {
  readonly documents: Documents;

  constructor(database: Database) {
    this.documents = new Documents(database);
  }

  /** Evaluates a query. Nothing is written if it fails. @throws Fault, Silent */
  run(query: Part, snapshot: number): Value {
    return this.documents.transact(snapshot, () =>
      this.one(query, { names: new Map(), ...this.documents.present }, []),
    );
  }

  one(part: Part, scope: Scope, at: Position): Value {
    if (Array.isArray(part)) return this.all(part, scope, at);
    if (!(part instanceof PartObject)) return scalarOf(part);
    const keys = part.members.map(([key]) => key);
    const form = FORMS[keys[0] ?? ''];
    if (!form) throw new Silent(`no form ${keys.join()}`);
    return form(new Call(this, part, scope, at));
  }

  /** Evaluates all parts. The first fault is thrown. */
  all(parts: readonly Part[], scope: Scope, at: Position, keys?: readonly string[]): Value[] {
    const faults: Fault[] = [];
    const values = parts.map((part, i) => {
      try {
        return this.one(part, scope, [...at, keys?.[i] ?? i]);
      } catch (fault) {
        if (!(fault instanceof Fault)) throw fault;
        faults.push(fault);
        return null;
      }
    });
    if (faults[0]) throw faults[0];
    return values;
  }
}
