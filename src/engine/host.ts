/** What an engine needs from its host, and the types that both use: requests, answers and commit notices. */
export type {
  AccessTokenPort,
  CommitNotice,
  Credential,
  CredentialLabel,
  EngineOptions,
  InLine,
  Lease,
  Line,
  LongQueries,
  Metrics,
  QueryAnswer,
  QueryRequest,
  ReadSet,
  View,
  WaitingList,
} from './context/host.ts';
