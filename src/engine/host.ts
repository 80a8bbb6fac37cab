/** What an engine needs from its host, and the types that both use: requests, answers and commit notices. */
export type {
  AccessTokenPort,
  ArrivedQuery,
  CommitNotice,
  Credential,
  CredentialLabel,
  EngineOptions,
  InLine,
  Lease,
  Line,
  LongQueries,
  QueryAnswer,
  QueryRequest,
  View,
  WaitingList,
} from './context/host.ts';
export type { ReadSet } from '../store/execution-reads.ts';
