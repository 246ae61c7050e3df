import { type EventData, type NewEvent, newEvent, type Usage } from '@hansard/events';

const agents = [undefined, undefined, 'agent_002', 'agent_003'];
const modelNames = ['large', 'small', 'tiny'];

/**
 * What an agent and its sub-agents did: model calls, with and without a cost, and totals that state some of the figures,
 * also while a call is under way. Amounts are multiples of 1/64, so that every order of adding them gives the same sum.
 */
export function randomWork(random: () => number): NewEvent[] {
  const whole = (most: number) => Math.floor(random() * most);
  const usage = (most: number): Usage => ({
    inputTokens: whole(most),
    outputTokens: whole(most),
    ...(random() < 0.4 ? { cacheReadTokens: whole(most) } : {}),
    ...(random() < 0.4 ? { cacheWriteTokens: whole(most) } : {}),
  });
  const cost = () => (1 + whole(64)) / 64;
  const total = (): NewEvent => {
    const models = modelNames
      .filter(() => random() < 0.7)
      .map((model) => ({ model, ...usage(9_000), costUsd: cost() }));
    const data: EventData<'session:complete'> = {
      status: 'completed',
      ...(random() < 0.7 ? { costUsd: cost() } : {}),
      ...(random() < 0.7 ? { usage: usage(9_000) } : {}),
      ...(random() < 0.5 && models.length > 0 ? { models } : {}),
      ...(random() < 0.5 ? { turns: whole(9) } : {}),
    };
    return newEvent('session:complete', data);
  };
  const message = (number: number): NewEvent[] => {
    const agentId = agents[whole(agents.length)];
    const links = {
      ...(agentId === undefined ? {} : { agentId }),
      ...(random() < 0.8 ? { messageId: `m${number}` } : {}),
    };
    const call: EventData<'agent:inference'> = {
      model: modelNames[whole(modelNames.length)] ?? '',
      usage: usage(1_000),
      ...(random() < 0.6 ? { costUsd: cost() } : {}),
    };
    return [
      newEvent('agent:text', { text: `step ${number}` }, links),
      ...(random() < 0.15 ? [total()] : []),
      newEvent('agent:inference', call, links),
    ];
  };
  return Array.from({ length: whole(8) }, (_, number) => [
    ...message(number),
    ...(random() < 0.2 ? [total()] : []),
  ]).flat();
}
