import type { SessionDialect } from '../session-records/session-dialect.ts';

export const sessionV2Dialect: SessionDialect = {
  id: 'session-v2',
  kinds: ['agent_created', 'transcript_entry', 'piece_of_text'],
  entryType: 'transcript_entry',
  substanceKey: 'substance',
  causeKey: 'cause',
  sourceKey: null,
  mayHaveBoth: false,
  foreignKeys: ['utterance_ref', 'caused_by', 'source'],
};
