import { type CapturedEvent, type NewEvent, newEvent } from '@hansard/events';
import { Cast, createGameStreams, type GameMappingInput } from '../../src/index.ts';

export const mapping: GameMappingInput = {
  turn: { events: ['game:day', 'game:night'] },
  gameEvents: { events: ['game:*'] },
  chat: { tools: { speak: 'text' }, utterances: true },
  whispers: { tools: { whisper: { message: 'text', to: 'to' } } },
  actions: {
    vote: { type: 'VOTE', payload: { voter: '$agent', target: 'target' } },
    use_ability: { type: 'ABILITY_USE' },
  },
};

export const ann = { agentId: 'agent_002', messageId: 'm1' };
export const bo = { agentId: 'agent_003', messageId: 'm2' };
export const created = (who: typeof ann, name: string) =>
  newEvent('agent:created', { name }, { agentId: who.agentId });
export const names = [created(ann, 'Ann'), created(bo, 'Bo')];
export const text = (who: typeof ann, said: string) => newEvent('agent:text', { text: said }, who);
export const thinking = (who: typeof ann, thought: string) =>
  newEvent('agent:thinking', { text: thought }, who);
export const call = (
  who: typeof ann,
  toolCallId: string,
  tool: string,
  input?: CapturedEvent['data'] | string,
) =>
  newEvent(
    'agent:tool_call',
    { toolCallId, tool, metadata: {}, ...(input === undefined ? {} : { input }) },
    who,
  );
export const result = (
  who: typeof ann,
  toolCallId: string,
  tool: string,
  status: 'completed' | 'error' = 'completed',
) =>
  newEvent(
    'agent:tool_result',
    { toolCallId, tool, metadata: {}, status, output: 'ok' },
    { agentId: who.agentId },
  );
export const inference = (who: typeof ann) =>
  newEvent(
    'agent:inference',
    { model: 'm', usage: { inputTokens: 10, outputTokens: 2, cacheReadTokens: 5 }, durationMs: 7 },
    who,
  );
export const turn = (type: 'game:day' | 'game:night', name: string): NewEvent => ({
  type,
  data: { turn: name, left: 2 },
});
/** A delivery of the text of the event with that number in the log. */
export const heard = (who: typeof ann, from: typeof ann, said: string, of?: number) =>
  newEvent(
    'user:message',
    { text: said, source: { kind: 'agent', agentId: from.agentId } },
    { agentId: who.agentId, ...(of === undefined ? {} : { substance: `e${of}` }) },
  );

/** The lines that each event adds, in order, then those of the end. */
export function play(events: readonly NewEvent[], as: GameMappingInput = mapping) {
  const captured = events.map((event, index) => ({
    id: `e${index}`,
    timestamp: '2026-03-01T09:30:00.000Z',
    ...event,
  }));
  const cast = new Cast(as);
  for (const event of captured) cast.observe(event);
  const streams = createGameStreams(as, { runId: 'R1', cast });
  const steps = captured.map((event) => streams.add(event));
  const all = [...steps, streams.finish()];
  const of = (stream: string) => all.flat().flatMap((made) => (made.stream === stream ? [made.line] : []));
  return { steps: all, of, leftOut: streams.leftOut };
}
