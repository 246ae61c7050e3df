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

interface Agent extends Thread {
  readonly caller: Thread;
  readonly call: string;
  readonly isAsync: boolean;
  /** Of a teammate. */
  readonly name: string | null;
}

/**
 * A random session of Claude Code, with what makes it hard to continue: messages over several lines, parallel calls,
 * sub-agents with files of their own (some in the background), progress, skills, rewinds, compactions, repeated and
 * renamed records, other records without ids, blank and broken lines.
 */
export function randomSession(seed: number, steps: number): WrittenLine[] {
  return new RandomSession(seed).write(steps);
}

class RandomSession {
  readonly #random: () => number;
  readonly #lines: WrittenLine[] = [];
  readonly #uuids: string[] = [];
  /** The records that can come again. */
  readonly #repeatable: string[] = [];
  readonly #main: Thread = {
    file: mainFile,
    agentId: undefined,
    parent: null,
    message: undefined,
    calls: [],
  };
  /** The sub-agents that have not ended. */
  readonly #agents: Agent[] = [];
  #clock = start;
  #number = 0;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  write(steps: number): WrittenLine[] {
    this.#prompt(this.#main);
    for (let step = 0; step < steps; step += 1) {
      const thread = this.#chance(0.5)
        ? this.#main
        : (this.#agents[this.#below(this.#agents.length)] ?? this.#main);
      const kind = this.#random();
      const call = thread.calls[0];
      if (kind < 0.45) this.#answer(thread);
      else if (kind < 0.7 && call !== undefined) {
        thread.calls.shift();
        this.#result(thread, call);
      } else if (kind < 0.8) this.#prompt(thread);
      else if (kind < 0.88) this.#endAgent();
      else this.#other();
    }
    return this.#lines;
  }

  #answer(thread: Thread): void {
    if (thread.message === undefined || this.#chance(0.4))
      thread.message = { id: this.#chance(0.95) ? this.#next('msg_') : '', lines: 0 };
    thread.message.lines += 1;
    const { id, lines: written } = thread.message;
    const isCall = this.#chance(0.5);
    const call = this.#next('toolu_');
    const isAgent = isCall && this.#chance(0.2) && this.#agents.length < 4;
    const block = isCall
      ? {
          type: 'tool_use',
          id: call,
          name: isAgent ? 'Task' : 'Bash',
          input: { command: `ls ${this.#below(9)}` },
        }
      : { type: 'text', text: `Answer ${this.#below(5)}` };
    const isEnd = !isCall && this.#chance(0.3);
    const usage = { input_tokens: 3, output_tokens: isEnd ? 9 : written };
    const message = {
      ...(id === '' ? {} : { id }),
      role: 'assistant',
      model: this.#chance(0.97) ? 'claude-test' : '<synthetic>',
      content: [block],
      stop_reason: isEnd ? 'end_turn' : null,
      ...(this.#chance(0.97) ? { usage } : {}),
    };
    this.#record(thread, { type: 'assistant', message });
    if (isEnd) thread.message = undefined;
    if (!isCall) return;
    if (isAgent) this.#startAgent(thread, call);
    else thread.calls.push(call);
  }

  #startAgent(caller: Thread, call: string): void {
    const agentId = this.#next('a');
    const agent = {
      file: `session/subagents/agent-${agentId}.jsonl`,
      agentId,
      parent: null,
      message: undefined,
      calls: [],
      caller,
      call,
      isAsync: this.#chance(0.4),
      // Claude Code gives no two teammates of a session one name.
      name: caller === this.#main && this.#chance(0.3) ? `mate-${agentId}` : null,
    };
    this.#agents.push(agent);
    if (agent.name !== null || this.#chance(0.6)) {
      const meta =
        agent.name === null
          ? { agentType: 'Explore', description: 'Look', toolUseId: call }
          : { agentType: 'Explore', name: agent.name, taskKind: 'in_process_teammate' };
      const file = agent.file.replace(/\.jsonl$/, '.meta.json');
      this.#lines.push({ file, text: JSON.stringify(meta) });
    }
    if (agent.name !== null)
      this.#result(caller, call, { toolUseResult: { status: 'teammate_spawned', name: agent.name } });
    else if (agent.isAsync)
      this.#result(caller, call, { toolUseResult: { status: 'async_launched', agentId } });
    else if (this.#chance(0.5))
      this.#record(caller, {
        type: 'progress',
        parentToolUseID: call,
        toolUseID: this.#next('agent_msg_'),
        data: { type: 'agent_progress', agentId, prompt: 'Look' },
      });
    this.#prompt(agent);
  }

  #endAgent(): void {
    // An agent waits for those that it called.
    const isFree = (one: Agent) => this.#agents.every(({ caller }) => caller !== one);
    const free = this.#agents.filter(isFree);
    const agent = free[this.#below(free.length)];
    if (agent === undefined) return;
    this.#answer(agent);
    if (!isFree(agent)) return;
    this.#agents.splice(this.#agents.indexOf(agent), 1);
    if (agent.name !== null) {
      const note = `<teammate-message teammate_id="${agent.name}">\nAnswer 1\n</teammate-message>`;
      this.#record(this.#main, { type: 'user', message: { role: 'user', content: note } });
      return;
    }
    if (agent.isAsync) {
      const content = `<task-notification>\n<task-id>${agent.agentId}</task-id>\n<result>Answer 1</result>`;
      this.#record(this.#main, {
        type: 'user',
        message: { role: 'user', content },
        origin: { kind: 'task-notification' },
      });
      return;
    }
    this.#result(agent.caller, agent.call, {
      toolUseResult: { status: 'completed', agentId: agent.agentId, content: [] },
    });
  }

  /** A record other than a prompt, an answer or a result, or a broken line. */
  #other(): void {
    const kind = this.#below(9);
    if (kind === 0)
      this.#put(this.#main, JSON.stringify({ type: 'mode', mode: 'normal', sessionId: 'session-1' }));
    else if (kind === 1)
      this.#record(this.#main, { type: 'system', subtype: 'stop_hook_summary', hookCount: 1 });
    else if (kind === 2)
      this.#record(this.#main, {
        type: 'system',
        subtype: 'compact_boundary',
        compactMetadata: { trigger: 'auto', preTokens: 9 },
      });
    else if (kind === 3) this.#prompt(this.#main, { isCompactSummary: true });
    else if (kind === 4)
      this.#prompt(this.#main, { isMeta: true, sourceToolUseID: this.#main.calls.at(-1) ?? 'toolu_none' });
    else if (kind === 5 && this.#chance(0.3))
      this.#put(this.#main, this.#repeatable[this.#below(this.#repeatable.length)] ?? '');
    else if (kind === 6)
      this.#put(
        this.#main,
        ['', '42', '{"type":"pr-link","prNu', '{"silly":\n"this"}'][this.#below(4)] ?? '',
      );
    else if (kind === 7 && this.#chance(0.3))
      this.#put(
        this.#main,
        (this.#repeatable[this.#below(this.#repeatable.length)] ?? '').replace('Prompt', 'Other'),
      );
    else
      this.#record(this.#main, {
        type: 'progress',
        toolUseID: this.#next('hook_'),
        data: { type: 'hook_progress', hookEvent: 'PostToolUse', hookName: 'x', command: 'y' },
      });
  }

  #prompt(thread: Thread, fields: Fields = {}): void {
    const message = { role: 'user', content: `Prompt ${this.#below(5)}` };
    this.#record(thread, { type: 'user', message, ...fields });
  }

  #result(thread: Thread, call: string, fields: Fields = {}): void {
    const isError = this.#chance(0.1);
    const block = { type: 'tool_result', tool_use_id: call, content: 'Done.', is_error: isError };
    this.#record(thread, { type: 'user', message: { role: 'user', content: [block] }, ...fields });
  }

  #record(thread: Thread, fields: Fields): void {
    this.#clock += this.#chance(0.1) ? -this.#below(3_000) : this.#below(4_000);
    const uuid = this.#next('00000000-0000-4000-8000-0000000');
    const parentUuid =
      thread === this.#main && this.#chance(0.03)
        ? (this.#uuids[this.#below(this.#uuids.length)] ?? null)
        : thread.parent;
    const whole = {
      parentUuid,
      isSidechain: thread.agentId !== undefined,
      sessionId: 'session-1',
      cwd: '/house',
      ...(thread.agentId === undefined ? {} : { agentId: thread.agentId }),
      ...fields,
      uuid,
      timestamp: new Date(this.#clock).toISOString(),
    };
    thread.parent = uuid;
    this.#uuids.push(uuid);
    const text = JSON.stringify(whole);
    if (thread === this.#main) this.#repeatable.push(text);
    this.#put(thread, text);
  }

  #put(thread: Thread, text: string): void {
    this.#lines.push({ file: thread.file, text: `${text}\n` });
  }

  #next(prefix: string): string {
    this.#number += 1;
    return `${prefix}${String(this.#number).padStart(5, '0')}`;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }
}
