import type { SessionDialect } from '../session-records/session-dialect.ts';

export const sessionV1Dialect: SessionDialect = {
  id: 'session-v1',
  kinds: ['agent_created', 'transcript_entry'],
  entryType: null,
  substanceKey: 'utterance_ref',
  causeKey: 'caused_by',
  sourceKey: 'source',
  mayHaveBoth: true,
  foreignKeys: ['substance', 'cause'],
};
