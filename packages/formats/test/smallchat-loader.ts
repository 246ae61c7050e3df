/** A message of a transcript as smallchat keeps it. */
export interface LoadedMessage {
  readonly role: string;
  readonly content?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly name?: string;
  readonly tool_call_id?: string;
}

interface LoadedAgent {
  readonly name: string;
  readonly kind: string;
  readonly parent: string;
  transcript: LoadedMessage[];
}

interface Line {
  readonly [key: string]: unknown;
  readonly event_type: string;
  readonly agent: string;
}

/**
 * Replays a log as `Session.load` of smallchat does, written after the note about its format alone. Throws where that loader
 * throws.
 */
export function loadSmallchat(text: string) {
  const agents = new Map<string, LoadedAgent>();
  let interlocutor: string | null = null;
  let next = 0;
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    const record = JSON.parse(line) as Line;
    const id = record.message_id;
    if (typeof id !== 'string') throw new Error(`message_id of ${line}`);
    if (/^\d+$/.test(id)) next = Math.max(next, Number(id) + 1);
    if (record.event_type === 'fragment') continue;
    if (record.event_type === 'agent_created') {
      const { agent, name, parent, role = 'child', language_model: model } = record;
      if (![agent, name, parent, model].every((one) => typeof one === 'string')) throw new Error(line);
      if (!['primary', 'child', 'hook'].includes(`${role}`)) throw new Error(`role of ${line}`);
      if (parent === 'user' ? role === 'hook' : !agents.has(`${parent}`))
        throw new Error(`parent of ${line}`);
      if (parent === 'user') interlocutor = agent;
      agents.set(agent, { name: `${name}`, kind: `${role}`, parent: `${parent}`, transcript: [] });
      continue;
    }
    const agent = agents.get(record.agent);
    if (agent === undefined) throw new Error(`No agent of ${line}`);
    if (record.event_type === 'transcript_edit') {
      if (record.action !== 'truncate') throw new Error(`action of ${line}`);
      agent.transcript = agent.transcript.slice(0, Number(record.n));
    } else if (record.event_type === 'transcript_entry') agent.transcript.push(messageOf(record));
    else throw new Error(`event_type of ${line}`);
  }
  if (interlocutor === null) throw new Error('No agent has the parent user.');
  return { agents, interlocutor, next };
}

function messageOf({ role, content, tool_calls: calls, name, tool_call_id: callId }: Line): LoadedMessage {
  const called = (calls ?? []) as { id: string; function: { name: string; arguments: string } }[];
  return {
    role: `${role}`,
    ...(content === undefined ? {} : { content: `${content}` }),
    ...(calls === undefined
      ? {}
      : {
          tool_calls: called.map((one) => ({
            id: one.id,
            name: one.function.name,
            arguments: one.function.arguments,
          })),
        }),
    ...(role === 'tool' ? { name: `${name}`, tool_call_id: `${callId}` } : {}),
  };
}
