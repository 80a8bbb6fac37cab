/** What an engine needs from its host, and the words that both use: queries, answers, commits. */
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
