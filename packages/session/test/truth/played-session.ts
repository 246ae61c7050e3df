import type { CapturedEvent } from '@hansard/events';
import type { ModelMessage } from '@hansard/provider';
import type { TruthRecord } from './truth-record.ts';

/** What a model was given in a call, as it came, and as it should be. */
export interface GivenPrompt {
  readonly agentId: string;
  readonly messages: readonly ModelMessage[];
  /** Null: its context has a policy that shows less than there is. */
  readonly expected: readonly string[] | null;
}

/** Whether an agent says that it owes a response, beside whether it does. */
export interface AwaitedResponse {
  readonly agentId: string;
  readonly says: boolean;
  readonly does: boolean;
}

export interface PlayedSession {
  readonly events: readonly CapturedEvent[];
  readonly truth: TruthRecord;
  readonly prompts: readonly GivenPrompt[];
  readonly awaited: readonly AwaitedResponse[];
  /** How many messages arrived while a model call of their agent was under way. */
  readonly races: number;
}
