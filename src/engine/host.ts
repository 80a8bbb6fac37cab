/** What an engine needs from its host, and the words that both use: queries, answers, commits. */
export type {
  AccessTokenPort,
  CommitNotice,
  Credential,
  CredentialLabel,
  EngineOptions,
  Lease,
  LongQueries,
  Metrics,
  QueryAnswer,
  QueryRequest,
  ReadSet,
  View,
} from './context/host.ts';
