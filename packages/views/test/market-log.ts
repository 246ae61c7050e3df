import type { CapturedEvent, EventData, EventLinks, JsonValue } from '@hansard/events';
import { event } from '@hansard/testing';

type Links = Omit<EventLinks, 'agentId'>;

export function created(id: string, agentId: string, name?: string, links: Links = {}): CapturedEvent {
  return event('agent:created', name === undefined ? {} : { name }, { id, agentId, ...links });
}

export function instructed(id: string, agentId: string, text: string): CapturedEvent {
  return event('agent:system_prompt', { text }, { id, agentId, messageId: id });
}

/** A message from another agent, or, without `from`, from a person. */
export function heard(
  id: string,
  agentId: string,
  text: string,
  { from, ...links }: Links & { readonly from?: string } = {},
): CapturedEvent {
  const source: EventData<'user:message'>['source'] =
    from === undefined ? { kind: 'user' } : { kind: 'agent', agentId: from };
  return event('user:message', { text, source }, { id, agentId, messageId: id, ...links });
}

export function says(id: string, agentId: string, text: string, links: Links = {}): CapturedEvent {
  return event('agent:text', { text }, { id, agentId, messageId: id, ...links });
}

export function thinks(id: string, agentId: string, text: string, links: Links = {}): CapturedEvent {
  return event('agent:thinking', { text }, { id, agentId, messageId: id, ...links });
}

export function calls(
  id: string,
  agentId: string,
  toolCallId: string,
  tool: string,
  input: JsonValue = {},
  links: Links = {},
): CapturedEvent {
  const data = { toolCallId, tool, input, metadata: {} };
  return event('agent:tool_call', data, { id, agentId, messageId: id, ...links });
}

export function receives(
  id: string,
  agentId: string,
  toolCallId: string,
  output: string,
  { status = 'completed', ...links }: Links & { readonly status?: 'completed' | 'error' } = {},
): CapturedEvent {
  const data = { toolCallId, tool: 'talk', status, output, metadata: {} };
  return event('agent:tool_result', data, { id, agentId, messageId: id, ...links });
}

export function piece(id: string, agentId: string, text: string, cause: string): CapturedEvent {
  return event('agent:piece_of_text', { text }, { id, agentId, cause });
}

export function decides(
  id: string,
  agentId: string,
  data: EventData<'harness:hook_decision'>,
  links: Links = {},
): CapturedEvent {
  return event('harness:hook_decision', data, { id, agentId, ...links });
}

/**
 * A market morning. Olga (the root) arranges a talk of Ben, who sells bread, and Ann, who buys it; Carl listens. Ann asks an
 * agent of her own, Conscience. A hook alters the recipe for Ann and withholds the whole offer from Carl.
 */
export function marketLog(): CapturedEvent[] {
  return [
    created('e1', 'olga', 'Olga'),
    heard('e2', 'olga', 'Play a morning at the market'),
    thinks('e3', 'olga', 'Three will do.'),
    event('agent:text', { text: 'I need a seller first.' }, { id: 'e3.1', agentId: 'olga', messageId: 'e3' }),
    calls('e3.2', 'olga', 'c1', 'task', { name: 'Ben' }, { messageId: 'e3' }),
    calls('e3.3', 'olga', 'c2', 'task', { name: 'Ann' }, { messageId: 'e3' }),
    calls('e3.4', 'olga', 'c3', 'task', { name: 'Carl' }, { messageId: 'e3' }),
    created('e4', 'ben', 'Ben', { cause: 'e3.2' }),
    instructed('e5', 'ben', 'You sell bread.'),
    receives('e6', 'olga', 'c1', 'Ben is there'),
    created('e7', 'ann', 'Ann', { cause: 'e3.3' }),
    receives('e8', 'olga', 'c2', 'Ann is there'),
    created('e9', 'carl', 'Carl', { cause: 'e3.4' }),
    receives('e10', 'olga', 'c3', 'Carl is there'),
    calls('e11', 'olga', 'c4', 'talk', { rounds: 1 }),
    piece('e12', 'olga', 'It is early. The stalls open.', 'e11'),
    heard('e13', 'ben', 'It is early. The stalls open.', { from: 'olga', substance: 'e12' }),
    heard('e14', 'ann', 'It is early. The stalls open.', { from: 'olga', substance: 'e12' }),
    says('e15', 'ben', 'Rye with caraway, baked at 240 degrees'),
    decides('e16', 'ann', {
      hook: 'secrets',
      on: 'delivery',
      decision: 'alter',
      reason: 'a recipe',
      subject: 'e15',
    }),
    heard('e17', 'ann', '[Ben]: Rye with caraway, baked at [hidden]', {
      from: 'ben',
      substance: 'e15',
      via: 'e16',
    }),
    decides('e18', 'carl', {
      hook: 'secrets',
      on: 'delivery',
      decision: 'deny',
      reason: 'a rival',
      subject: 'e15',
    }),
    calls('e19', 'ann', 'c5', 'task', { name: 'Conscience' }),
    created('e20', 'inner', 'Conscience', { cause: 'e19' }),
    receives('e21', 'ann', 'c5', 'Conscience is there'),
    calls('e22', 'ann', 'c6', 'talk'),
    piece('e23', 'ann', 'Shall I haggle?', 'e22'),
    heard('e24', 'inner', 'Shall I haggle?', { from: 'ann', substance: 'e23' }),
    says('e25', 'inner', 'No. He was up at three.'),
    receives('e26', 'ann', 'c6', 'No. He was up at three.', { substance: 'e25' }),
    says('e27', 'ann', 'Two loaves, please.'),
    heard('e28', 'ben', '[Ann]: Two loaves, please.', { from: 'ann', substance: 'e27' }),
    receives(
      'e29',
      'olga',
      'c4',
      '[Ben]: Rye with caraway, baked at 240 degrees\n[Ann]: Two loaves, please.',
      {
        cause: ['e15', 'e27'],
      },
    ),
    says('e30', 'olga', 'The morning was sold out.'),
  ];
}
