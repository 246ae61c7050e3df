import { randomFrom } from '@hansard/testing';

type Fields = Record<string, unknown>;

/** The lines of a random session, in the order in which they were written, with the file that each is in. */
export interface WrittenLine {
  readonly file: string;
  readonly text: string;
}

const mainFile = 'session.jsonl';
const start = Date.parse('2026-03-01T09:30:00.000Z');

interface Thread {
  readonly file: string;
  readonly agentId: string | undefined;
  parent: string | null;
  message: { id: string; lines: number } | undefined;
  readonly calls: string[];
}

/**
 * A random session of Claude Code, with what makes it hard to continue: messages over several lines, parallel calls,
 * sub-agents with files of their own (some in the background), progress, skills, rewinds, compactions, repeated and
 * renamed records, other records without ids, blank and broken lines.
 */
export function randomSession(seed: number, steps: number): WrittenLine[] {
  const random = randomFrom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const chance = (share: number) => random() < share;
  const lines: WrittenLine[] = [];
  const uuids: string[] = [];
  const repeatable: string[] = [];
  let clock = start;
  let number = 0;
  const next = (prefix: string) => {
    number += 1;
    return `${prefix}${String(number).padStart(5, '0')}`;
  };

  const main: Thread = { file: mainFile, agentId: undefined, parent: null, message: undefined, calls: [] };
  const agents: (Thread & { caller: Thread; call: string; isAsync: boolean })[] = [];

  const put = (thread: Thread, text: string) => lines.push({ file: thread.file, text: `${text}\n` });
  const record = (thread: Thread, fields: Fields) => {
    clock += chance(0.1) ? -below(3_000) : below(4_000);
    const uuid = next('00000000-0000-4000-8000-0000000');
    const parentUuid = thread === main && chance(0.03) ? (uuids[below(uuids.length)] ?? null) : thread.parent;
    const whole = {
      parentUuid,
      isSidechain: thread.agentId !== undefined,
      sessionId: 'session-1',
      cwd: '/house',
      ...(thread.agentId === undefined ? {} : { agentId: thread.agentId }),
      ...fields,
      uuid,
      timestamp: new Date(clock).toISOString(),
    };
    thread.parent = uuid;
    uuids.push(uuid);
    const text = JSON.stringify(whole);
    if (thread === main) repeatable.push(text);
    put(thread, text);
  };
  const prompt = (thread: Thread, fields: Fields = {}) =>
    record(thread, { type: 'user', message: { role: 'user', content: `Prompt ${below(5)}` }, ...fields });
  const result = (thread: Thread, call: string, fields: Fields = {}) => {
    const block = { type: 'tool_result', tool_use_id: call, content: 'Done.', is_error: chance(0.1) };
    record(thread, { type: 'user', message: { role: 'user', content: [block] }, ...fields });
  };
  const answer = (thread: Thread) => {
    if (thread.message === undefined || chance(0.4))
      thread.message = { id: chance(0.95) ? next('msg_') : '', lines: 0 };
    thread.message.lines += 1;
    const { id, lines: written } = thread.message;
    const isCall = chance(0.5);
    const call = next('toolu_');
    const isAgent = isCall && chance(0.2) && agents.length < 4;
    const block = isCall
      ? { type: 'tool_use', id: call, name: isAgent ? 'Task' : 'Bash', input: { command: `ls ${below(9)}` } }
      : { type: 'text', text: `Answer ${below(5)}` };
    const isEnd = !isCall && chance(0.3);
    const usage = { input_tokens: 3, output_tokens: isEnd ? 9 : written };
    const message = {
      ...(id === '' ? {} : { id }),
      role: 'assistant',
      model: chance(0.97) ? 'claude-test' : '<synthetic>',
      content: [block],
      stop_reason: isEnd ? 'end_turn' : null,
      ...(chance(0.97) ? { usage } : {}),
    };
    record(thread, { type: 'assistant', message });
    if (isEnd) thread.message = undefined;
    if (!isCall) return;
    if (!isAgent) {
      thread.calls.push(call);
      return;
    }
    const agentId = next('a');
    const agent = {
      file: `session/subagents/agent-${agentId}.jsonl`,
      agentId,
      parent: null,
      message: undefined,
      calls: [],
      caller: thread,
      call,
      isAsync: chance(0.4),
    };
    agents.push(agent);
    if (chance(0.6)) {
      const meta = { agentType: 'Explore', description: 'Look', toolUseId: call };
      const file = agent.file.replace(/\.jsonl$/, '.meta.json');
      lines.push({ file, text: JSON.stringify(meta) });
    }
    if (agent.isAsync) result(thread, call, { toolUseResult: { status: 'async_launched', agentId } });
    else if (chance(0.5))
      record(thread, {
        type: 'progress',
        parentToolUseID: call,
        toolUseID: next('agent_msg_'),
        data: { type: 'agent_progress', agentId, prompt: 'Look' },
      });
    prompt(agent);
  };
  const endAgent = () => {
    const at = below(agents.length);
    const [agent] = agents.splice(at, 1);
    if (agent === undefined) return;
    answer(agent);
    if (agent.isAsync) {
      const content = `<task-notification>\n<task-id>${agent.agentId}</task-id>\n<result>Answer 1</result>`;
      record(main, {
        type: 'user',
        message: { role: 'user', content },
        origin: { kind: 'task-notification' },
      });
      return;
    }
    result(agent.caller, agent.call, {
      toolUseResult: { status: 'completed', agentId: agent.agentId, content: [] },
    });
  };
  const other = () => {
    const kind = below(9);
    if (kind === 0) put(main, JSON.stringify({ type: 'mode', mode: 'normal', sessionId: 'session-1' }));
    else if (kind === 1) record(main, { type: 'system', subtype: 'stop_hook_summary', hookCount: 1 });
    else if (kind === 2)
      record(main, {
        type: 'system',
        subtype: 'compact_boundary',
        compactMetadata: { trigger: 'auto', preTokens: 9 },
      });
    else if (kind === 3) prompt(main, { isCompactSummary: true });
    else if (kind === 4) prompt(main, { isMeta: true, sourceToolUseID: main.calls.at(-1) ?? 'toolu_none' });
    else if (kind === 5 && chance(0.3)) put(main, repeatable[below(repeatable.length)] ?? '');
    else if (kind === 6)
      put(main, ['', '42', '{"type":"pr-link","prNu', '{"silly":\n"this"}'][below(4)] ?? '');
    else if (kind === 7 && chance(0.3))
      put(main, (repeatable[below(repeatable.length)] ?? '').replace('Prompt', 'Other'));
    else
      record(main, {
        type: 'progress',
        toolUseID: next('hook_'),
        data: { type: 'hook_progress', hookEvent: 'PostToolUse', hookName: 'x', command: 'y' },
      });
  };

  prompt(main);
  for (let step = 0; step < steps; step += 1) {
    const thread = chance(0.5) ? main : (agents[below(agents.length)] ?? main);
    const kind = random();
    const call = thread.calls[0];
    if (kind < 0.45) answer(thread);
    else if (kind < 0.7 && call !== undefined) {
      thread.calls.shift();
      result(thread, call);
    } else if (kind < 0.8) prompt(thread);
    else if (kind < 0.88) endAgent();
    else other();
  }
  return lines;
}
