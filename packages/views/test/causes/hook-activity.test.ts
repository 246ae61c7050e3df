import { event } from '@hansard/testing';
import { expect, it } from 'vitest';
import {
  agentTree,
  causesOf,
  createLogIndex,
  EventFilter,
  effectsOf,
  PresentAgents,
  renderAgentTree,
  renderCauses,
} from '../../src/index.ts';

const root = { agentId: 'agent_001' };
const memory = { agentId: 'agent_002' };
const system = { kind: 'system', hook: 'Memory' } as const;

/** A hook asks its own agent, and sends what it says to the root; another hook reminds the root, and fails. */
const log = [
  event('agent:created', { name: 'Host' }, { ...root, id: 'e0' }),
  event('user:message', { text: 'A cake for Mia?', source: { kind: 'user' } }, { ...root, id: 'e1' }),
  event('agent:created', { name: 'Recall', hook: 'Memory' }, { ...memory, id: 'e2', cause: 'e1' }),
  event('user:message', { text: 'What matters?', source: system }, { ...memory, id: 'e3', cause: 'e1' }),
  event('agent:text', { text: 'No nuts.' }, { ...memory, id: 'e4', messageId: 'e4' }),
  event(
    'user:message',
    { text: 'No nuts.', source: { kind: 'agent', ...memory, hook: 'Memory' } },
    { ...root, id: 'e5', substance: 'e4' },
  ),
  event(
    'user:message',
    { text: 'Be brief.', source: { kind: 'system', hook: 'Style' } },
    { ...root, id: 'e6', cause: 'e1' },
  ),
  event(
    'harness:error',
    { message: 'The hook Style failed.', hook: 'Style' },
    { ...root, id: 'e7', cause: 'e1' },
  ),
  event('harness:error', { message: 'no memory' }, { ...root, id: 'e8' }),
  event('agent:text', { text: 'Sponge cake.' }, { ...root, id: 'e9', messageId: 'e9' }),
];
const index = createLogIndex(log);

it('the type hook selects what hooks sent and created, and where they failed', () => {
  const filter = new EventFilter({ types: ['hook'] });
  expect(log.filter((one) => filter.passes(one)).map(({ id }) => id)).toEqual(['e2', 'e3', 'e5', 'e6', 'e7']);
});

it('what follows from a message says which hook sent what to whom, and whose agent it created', () => {
  const lines = renderCauses(index, effectsOf(index, 'e1')).split('\n');
  expect(
    lines.filter((line) => line.includes('hook ')).map((line) => line.trim().replaceAll(/\s+/g, ' ')),
  ).toEqual([
    '2 Recall created Recall, for the hook Memory',
    '3 Recall message from hook Memory What matters?',
    '5 Host message from hook Memory as agent Recall No nuts.',
    '6 Host message from hook Style Be brief.',
    '7 Host error The hook Style failed.',
  ]);
});

it('why leads from an answer over the message of a hook to what the hook observed', () => {
  const rows = causesOf(index, 'e9');
  expect(rows.map(({ id }) => id)).toEqual(['e1', 'e3', 'e4', 'e5', 'e6', 'e9']);
  expect(renderCauses(index, rows)).toContain('from hook Style');
});

it("an agent of a hook has no parent and is in nobody's company", () => {
  expect(renderAgentTree(agentTree(index)).split('\n').at(-1)).toMatch(/^Recall .*\(of the hook Memory\)$/);
  const present = new PresentAgents();
  for (const one of log) present.observe(one);
  expect(present.beside(null)).toEqual([root.agentId]);
});
