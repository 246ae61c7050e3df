import { type CapturedEvent, type NewEvent, newEvent, parseEvent } from '@hansard/events';
import type { GameMappingInput } from '../../src/index.ts';

export const dispatchId = '01JM0000000000000000000000';

export const mapping: GameMappingInput = {
  turn: { events: ['game:day_start', 'game:night_start'] },
  gameEvents: { events: ['game:*'] },
  chat: { tools: { speak: 'message' } },
  whispers: { tools: { whisper: { message: 'message', to: 'to' } } },
  actions: {
    vote: { type: 'VOTE', payload: { voter: '$agent', target: 'target' } },
    accuse: { type: 'ACCUSE' },
  },
};

/** A word that occurs in exactly one private place of the log. */
export const canary = (place: string) => `CANARY_${place}_CANARY`;

const ann = { agentId: 'agent_001' };
const ben = { agentId: 'agent_002' };

function call(id: string, tool: string, input: Record<string, unknown>, whose = ann): NewEvent[] {
  const metadata = { note: canary('metadata') };
  return [
    newEvent(
      'agent:tool_call',
      { toolCallId: id, tool, target: canary('target'), input: input as never, metadata },
      { ...whose, messageId: `m-${id}` },
    ),
    newEvent(
      'agent:tool_result',
      { toolCallId: id, tool, status: 'completed', output: canary('output'), metadata },
      whose,
    ),
  ];
}

/** Two players, with a canary in every field that is not speech or the mapped part of an action. */
export const events: readonly CapturedEvent[] = [
  newEvent('session:init', { model: canary('model'), sessionId: canary('session'), cwd: canary('cwd') }),
  newEvent('agent:created', { name: 'Ann Lee', languageModel: canary('language_model') }, ann),
  newEvent('agent:created', { name: 'Ben', languageModel: canary('language_model') }, ben),
  newEvent('agent:system_prompt', { text: `${canary('system_prompt')} You are the wolf.` }, ann),
  newEvent('user:message', { text: canary('delivery'), source: { kind: 'user' } }, ann),
  { type: 'game:day_start', data: { turn: 'Day 1 of Ben', roles: canary('game_event') } } as NewEvent,
  newEvent(
    'agent:thinking',
    { text: canary('thinking'), signature: canary('signature') },
    { ...ann, messageId: 'm-c1' },
  ),
  newEvent('agent:text', { text: canary('beside_call') }, { ...ann, messageId: 'm-c1' }),
  ...call('c1', 'speak', {
    message: 'I trust Ben, and ann lee trusts him too. Benny is nobody.',
    why: canary('speak_field'),
  }),
  ...call('c2', 'whisper', { message: canary('whisper'), to: 'Ben' }),
  ...call('c3', 'vote', { target: 'Ben', reason: canary('vote_field') }),
  ...call('c4', 'accuse', { target: 'Ben', reason: canary('bare_action') }),
  ...call('c5', 'read_notes', { path: canary('tool_input') }, ben),
  newEvent('agent:text', { text: canary('utterance_to_the_host') }, { ...ben, messageId: 'm-u' }),
  newEvent('agent:piece_of_text', { text: canary('piece') }, ben),
  newEvent('agent:output', { parts: [{ kind: 'text', text: canary('observed') }] }, ben),
  newEvent(
    'agent:inference',
    {
      model: canary('inference_model'),
      usage: { inputTokens: 1, outputTokens: 1 },
      stopReason: canary('stop'),
    },
    ben,
  ),
  newEvent(
    'harness:hook_decision',
    { hook: canary('hook'), on: 'delivery', decision: 'deny', reason: canary('hook_reason') },
    ben,
  ),
  newEvent('harness:error', { message: canary('error'), stack: canary('stack') }),
  newEvent('session:compaction', { trigger: 'auto', summary: canary('summary') } as never, ann),
  { type: 'custom:thing', data: { [canary('unknown_key')]: canary('unknown') } } as NewEvent,
  ...call('c6', 'speak', { message: 'Agent_001 is quiet.' }, ben),
  newEvent('session:complete', {
    status: 'completed',
    result: canary('result'),
    structuredResult: { role: canary('structured') },
  }),
].map((event, at) =>
  parseEvent({ ...event, id: `${canary('id')}${at}`, timestamp: '2026-03-01T09:30:01.000Z' }),
);

export async function* log(): AsyncGenerator<CapturedEvent> {
  yield* events;
}
