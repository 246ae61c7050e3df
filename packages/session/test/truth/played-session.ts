import type { CapturedEvent } from '@hansard/events';
import type { ModelMessage } from '@hansard/provider';
import type { TruthRecord } from './truth-record.ts';

const receivedTypes: ReadonlySet<string> = new Set([
  'user:message',
  'agent:tool_result',
  'agent:system_prompt',
  'agent:output',
  'session:compaction',
]);

/** The events by which things reached an agent, in the order of its deliveries in the record of the truth. */
export function receivedBy(agentId: string, events: readonly CapturedEvent[]): CapturedEvent[] {
  return events.filter((event) => event.agentId === agentId && receivedTypes.has(event.type));
}

/** The text of an answer in a prompt, and what the provider gets back with it. */
export function withReplay(text: string, replay: unknown): string {
  return replay === undefined ? text : `${text} [${replay}]`;
}

/** What a model was given in a call, as it came, and as it should be. */
export interface GivenPrompt {
  readonly agentId: string;
  readonly messages: readonly ModelMessage[];
  readonly expected: readonly string[];
  /** Whether the log has the answer: of a call that a crash ended it has nothing. */
  isAnswered: boolean;
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
  /** How often its process ended without an end of the session. */
  readonly crashes: number;
  /** How often tools or agents ran beside each other. */
  readonly besides: number;
}
