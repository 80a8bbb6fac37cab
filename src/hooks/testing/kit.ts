/** What the contract suite needs of a framework: components that use the hooks and report what they return. */
import type { Arg, Expr, Ref, SetRef } from '../../index.ts';
import type { MutationOptions, MutationState } from '../core/mutation.ts';
import type { PagesState } from '../core/pages.ts';
import type { BurrowOptions, Session, SessionState } from '../core/session.ts';
import type { QueryChoices, QueryState } from '../core/shared-queries.ts';
import type { SyncStatus, SyncWatch } from '../core/sync-status.ts';

/** The results of the hooks, as a component gets them. */
export interface Uses {
  readonly query: QueryState<unknown>;
  readonly pages: PagesState<unknown> & { next(): void; previous(): void };
  readonly mutation: MutationState<unknown> & {
    run(...args: readonly never[]): Promise<unknown>;
    reset(): void;
  };
  readonly sync: SyncStatus & Pick<SyncWatch, 'resolve'>;
  readonly session: SessionState & Pick<Session, 'logIn' | 'logOut'>;
}

/** A component. It calls `report` with the result of its hook, when it is rendered and whenever the result changes. */
export type Part =
  | {
      readonly use: 'query';
      readonly query: Arg | undefined;
      readonly choices?: QueryChoices | undefined;
      readonly report: (used: Uses['query']) => void;
    }
  | {
      readonly use: 'pages';
      readonly set: Expr<SetRef<Ref>> | undefined;
      readonly size: number;
      readonly map?: (element: Expr<Ref>) => Expr;
      readonly report: (used: Uses['pages']) => void;
    }
  | {
      readonly use: 'mutation';
      readonly query: (...args: readonly never[]) => Expr;
      readonly options?: MutationOptions<readonly never[]>;
      readonly report: (used: Uses['mutation']) => void;
    }
  | { readonly use: 'sync'; readonly report: (used: Uses['sync']) => void }
  | { readonly use: 'session'; readonly report: (used: Uses['session']) => void };

export type Parts = Readonly<Record<string, Part>>;

export interface Mounted {
  /** Renders other parts. A part whose name was there before is kept, with its new options. */
  update(parts: Parts): void;
  unmount(): void;
}

/** Renders parts below a provider. */
export type MountParts = (options: BurrowOptions, parts: Parts) => Mounted;
