import type { RandomChoices, WrittenRecord } from '../src/index.ts';

const start = Date.parse('2026-03-01T09:30:00.000Z');
const thread = (number: number) => `019d7d08-46c9-7f73-affe-${String(number).padStart(12, '0')}`;
type Fields = Record<string, unknown>;
/** Input, of it cached, output and of it reasoning. */
const ofCall = [1_000, 500, 40, 8];

/** What differs between the versions of Codex whose files were seen. */
type Age = 'first' | 'multi' | 'paginated';

/** Writes the rollout of one thread as Codex does, made after recordings of 0.118 to 0.169. */
class Rollout {
  readonly lines: string[] = [];
  readonly #random: RandomChoices;
  readonly #age: Age;
  #turn = 0;
  #calls = 0;
  #total = [0, 0, 0, 0];
  #said = '';

  constructor(random: RandomChoices, age: Age) {
    this.#random = random;
    this.#age = age;
  }

  /** Half of the optional fields, so that each occurs in some source. */
  #some(fields: Fields): Fields {
    return Object.fromEntries(Object.entries(fields).filter(() => this.#random.chance(0.5)));
  }

  write(type: string, payload: Fields): void {
    const timestamp = new Date(start + this.lines.length * 1_000).toISOString();
    const ordinal = this.#age === 'paginated' ? { ordinal: this.lines.length } : {};
    this.lines.push(JSON.stringify({ timestamp, ...ordinal, type, payload }));
  }

  #item(type: string, fields: Fields): void {
    if (this.#age === 'first') {
      this.write('response_item', { type, ...fields });
      return;
    }
    const passthrough = { internal_chat_message_metadata_passthrough: { turn_id: `turn-${this.#turn}` } };
    const metadata = this.#age === 'paginated' ? { metadata: { client_id: this.#random.text() } } : {};
    const timestamp = new Date(start + this.lines.length * 1_000).toISOString();
    const ordinal = this.#age === 'paginated' ? { ordinal: this.lines.length } : {};
    const id = `${type}_${this.lines.length}`;
    const payload = { type, id, ...fields, ...passthrough };
    this.lines.push(JSON.stringify({ timestamp, ...ordinal, type: 'response_item', payload, ...metadata }));
  }

  #event(type: string, fields: Fields): void {
    this.write('event_msg', { type, ...fields });
  }

  /** A message of the engine about an item: in newer versions one of a completed item. */
  #completed(type: string, item: Fields): void {
    const times = { started_at_ms: start, completed_at_ms: start + 1 };
    this.#event('item_completed', {
      thread_id: thread(1),
      turn_id: `turn-${this.#turn}`,
      item: { type, ...item },
      ...times,
    });
  }

  meta(fields: Fields = {}): void {
    const known = {
      id: thread(1),
      timestamp: new Date(start).toISOString(),
      cwd: '/srv/house',
      originator: 'codex_exec',
      cli_version: '0.0.0',
      source: 'exec',
      model_provider: 'openai',
      base_instructions: { text: 'You are an agent.' },
      git: { branch: this.#random.text() },
    };
    const newer = {
      thread_source: 'user',
      dynamic_tools: [{ name: this.#random.text() }],
      history_mode: 'legacy',
      context_window: 258_400,
      memory_mode: 'enabled',
      multi_agent_version: 'v2',
      account_scoped: true,
      runtime_workspace_roots: ['/srv/house'],
      agent_nickname: this.#random.text(),
      agent_role: 'explorer',
      agent_path: '/root/helper',
      parent_thread_id: thread(2),
      session_id: thread(1),
    };
    this.write('session_meta', { ...known, ...this.#some(newer), ...fields });
  }

  /** The head of another thread: copied, or referred to. */
  head(): void {
    if (this.#age === 'paginated') {
      const history_base = { thread_id: thread(3), end_ordinal_exclusive: 46, end_byte_offset: 900 };
      this.meta({ forked_from_id: thread(3), forked_from_ordinal_exclusive: 46, history_base });
      return;
    }
    this.meta({ forked_from_id: thread(3) });
    this.meta({ id: thread(3), base_instructions: { text: this.#random.text() } });
  }

  context(): void {
    const policies = {
      personality: 'friendly',
      collaboration_mode: { mode: this.#random.text() },
      realtime_active: false,
      effort: 'high',
      summary: 'none',
      truncation_policy: { mode: 'tokens', limit: 10_000 },
      workspace_roots: ['/srv/house'],
      approvals_reviewer: 'user',
      permission_profile: { type: 'disabled' },
      file_system_sandbox_policy: { kind: 'restricted' },
      comp_hash: '3000',
      multi_agent_version: 'v2',
      multi_agent_mode: 'proactive',
      root_turn_id: `turn-${this.#turn}`,
      disabled_plugin_ids: [],
    };
    this.write('turn_context', {
      turn_id: `turn-${this.#turn}`,
      cwd: '/srv/house',
      current_date: '2026-03-01',
      timezone: 'Etc/UTC',
      approval_policy: 'never',
      sandbox_policy: { type: 'danger-full-access', note: this.#random.text() },
      model: this.#random.pick(['gpt-5.4', 'gpt-5.5']),
      ...this.#some(policies),
    });
  }

  begin(): void {
    this.#turn += 1;
    const newer = {
      started_at: 1_772_357_400,
      turn_attribution: { turn_trigger: this.#random.text() },
      root_turn_id: 'turn-1',
    };
    this.#event('task_started', {
      turn_id: `turn-${this.#turn}`,
      model_context_window: 258_400,
      collaboration_mode_kind: 'default',
      ...this.#some(newer),
    });
  }

  injected(): void {
    const text = `<environment_context>${this.#random.text()}</environment_context>`;
    const role = this.#random.pick(['user', 'developer']);
    this.#item('message', { role, content: [{ type: 'input_text', text }] });
  }

  prompt(): void {
    const text = this.#random.text();
    const image = { type: 'input_image', image_url: `data:image/png;base64,${'iVBOR'.repeat(60)}` };
    const content = [{ type: 'input_text', text }, ...(this.#random.chance(0.2) ? [image] : [])];
    this.#item('message', { role: 'user', content });
    if (this.#age === 'paginated') {
      this.#completed('UserMessage', {
        id: 'u',
        content: [{ type: 'text', text, text_elements: [] }],
      });
      return;
    }
    const more = {
      client_id: this.#random.text(),
      images: [],
      local_images: ['/srv/a.png'],
      text_elements: [],
    };
    this.#event('user_message', { message: text, ...this.#some(more) });
  }

  thought(): void {
    const texts = Array.from({ length: this.#random.below(3) }, () => this.#random.text());
    if (this.#age === 'paginated')
      this.#completed('Reasoning', { id: 'r', summary_text: texts, raw_content: [] });
    else for (const text of texts) this.#event('agent_reasoning', { text });
    this.#item('reasoning', {
      summary: texts.map((text) => ({ type: 'summary_text', text })),
      ...this.#some({ content: null, encrypted_content: 'gAAAAABp' }),
    });
  }

  said(): void {
    const text = this.#random.text();
    this.#said = text;
    const phase = this.#random.pick(['commentary', 'final_answer']);
    if (this.#age === 'paginated')
      this.#completed('AgentMessage', { id: 'm', content: [{ type: 'Text', text }] });
    else this.#event('agent_message', { message: text, phase, ...this.#some({ memory_citation: null }) });
    const content = [{ type: 'output_text', text, ...this.#some({ annotations: [] }) }];
    this.#item('message', { role: 'assistant', content, ...this.#some({ phase, status: 'completed' }) });
  }

  call(): void {
    this.#calls += 1;
    const call_id = `call_${this.#calls}`;
    const output = this.#random.text();
    const kind = this.#random.below(4);
    if (kind === 0) {
      this.#item('custom_tool_call', {
        status: 'completed',
        call_id,
        name: 'apply_patch',
        ...this.#some({ namespace: 'functions' }),
        input: `*** Begin Patch\n*** Add File: a.txt\n+${this.#random.text()}\n*** End Patch`,
      });
      this.patched(call_id);
      this.#item('custom_tool_call_output', {
        call_id,
        output: this.#random.pick([output, [{ type: 'input_text', text: output }]]),
      });
      return;
    }
    const args = { cmd: `ls ${this.#random.text()}`, workdir: '/srv/house' };
    this.#item('function_call', {
      name: 'exec_command',
      arguments: JSON.stringify(args),
      call_id,
      ...this.#some({ namespace: 'functions', status: 'completed' }),
    });
    if (kind !== 1) this.ended(call_id, output);
    this.#item('function_call_output', {
      call_id,
      output: this.#random.pick([output, [{ type: 'input_text', text: output }]]),
    });
  }

  patched(call_id: string): void {
    const changes = {
      '/srv/house/a.txt': { type: 'add', content: this.#random.text() },
      '/srv/house/b.txt': {
        type: 'update',
        unified_diff: `@@ -1 +1 @@\n-a\n+${this.#random.text()}\n`,
        move_path: null,
      },
    };
    this.#event('patch_apply_end', {
      call_id,
      turn_id: `turn-${this.#turn}`,
      stdout: this.#random.text(),
      stderr: '',
      success: this.#random.chance(0.8),
      changes,
      status: 'completed',
    });
  }

  ended(call_id: string, output: string): void {
    const command = ['/bin/bash', '-lc', this.#random.text()];
    const process = {
      process_id: '7',
      command,
      cwd: '/srv/house',
      parsed_cmd: [{ type: 'unknown', cmd: this.#random.text() }],
      source: 'unified_exec_startup',
      aggregated_output: output,
      exit_code: this.#random.pick([0, 0, 3]),
      duration: { secs: 1, nanos: 5 },
      status: 'completed',
    };
    if (this.#age === 'paginated') {
      this.#completed('CommandExecution', { id: call_id, ...process });
      return;
    }
    this.#event('exec_command_end', {
      call_id,
      turn_id: `turn-${this.#turn}`,
      ...process,
      stdout: output,
      stderr: this.#random.text(),
      formatted_output: this.#random.pick([output, this.#random.text()]),
    });
  }

  counted(isAgain = false): void {
    if (!isAgain) this.#total = this.#total.map((count, at) => count + (ofCall[at] ?? 0));
    const usage = (factor: readonly number[]) => ({
      input_tokens: factor[0],
      cached_input_tokens: factor[1],
      ...(this.#age === 'first' ? {} : { cache_write_input_tokens: 0 }),
      output_tokens: factor[2],
      reasoning_output_tokens: factor[3],
      total_tokens: (factor[0] ?? 0) + (factor[2] ?? 0),
    });
    const last = usage(ofCall);
    if (this.#age === 'paginated' && !isAgain)
      this.write('token_usage_record', {
        thread_id: thread(1),
        turn_id: `turn-${this.#turn}`,
        session_id: thread(1),
        root_turn_id: 'turn-1',
        response_id: `resp_${this.lines.length}`,
        usage: last,
        turn_token_usage: last,
        thread_token_usage: usage(this.#total),
      });
    const info = {
      total_token_usage: usage(this.#total),
      last_token_usage: last,
      model_context_window: 258_400,
    };
    const rate_limits = { limit_id: 'codex', plan_type: this.#random.text() };
    this.#event('token_count', { info: this.#random.chance(0.9) ? info : null, rate_limits });
  }

  compacted(): void {
    const kept = this.lines.map((line) => JSON.parse(line) as { type: string; payload: Fields });
    const prompts = kept.filter(({ type, payload }) => type === 'response_item' && payload.role === 'user');
    const summary = { type: 'compaction', encrypted_content: 'gAAAAABp' };
    const windows = { window_number: 1, first_window_id: 'w0', previous_window_id: 'w0', window_id: 'w1' };
    this.write('compacted', {
      message: this.#random.pick(['', this.#random.text()]),
      replacement_history: [...prompts.map(({ payload }) => payload), summary],
      ...(this.#age === 'first' ? {} : windows),
    });
    this.write('world_state', { full: true, state: { agents_md: { text: this.#random.text() } } });
    this.#event('context_compacted', {});
  }

  /** What a thread records of the agents that it works with. */
  agents(): void {
    const call_id = `call_agent_${this.lines.length}`;
    const prompt = this.#random.text();
    this.#item('function_call', {
      name: 'spawn_agent',
      arguments: JSON.stringify({ message: prompt }),
      call_id,
    });
    const agent = { new_agent_nickname: 'Ohm', new_agent_role: 'explorer' };
    const receiver = {
      sender_thread_id: thread(1),
      receiver_thread_id: thread(4),
      receiver_agent_nickname: 'Ohm',
      receiver_agent_role: 'explorer',
    };
    const status = { completed: this.#random.text() };
    if (this.#age === 'first') {
      const spawned = { sender_thread_id: thread(1), new_thread_id: thread(4), ...this.#some(agent) };
      const model = { model: 'gpt-5.4-mini', reasoning_effort: 'medium', status: 'pending_init' };
      this.#event('collab_agent_spawn_end', { call_id, ...spawned, prompt, ...model });
      this.#event('collab_agent_interaction_end', {
        call_id,
        ...receiver,
        prompt: this.#random.text(),
        status,
      });
      const statuses = { [thread(4)]: status };
      const waited = { sender_thread_id: thread(1), call_id, statuses };
      this.#event('collab_waiting_end', {
        ...waited,
        ...this.#some({ agent_statuses: [{ thread_id: thread(4), status }] }),
      });
      this.#event('collab_close_end', { call_id, ...receiver, status });
    } else {
      const activity = { agent_thread_id: thread(4), agent_path: '/root/helper', kind: 'started' };
      if (this.#age === 'multi')
        this.#event('sub_agent_activity', { event_id: call_id, occurred_at_ms: start, ...activity });
      else
        this.#completed('SubAgentActivity', {
          id: call_id,
          model: 'gpt-5.5',
          reasoning_effort: 'low',
          ...activity,
        });
      if (this.#age === 'paginated')
        this.#completed('CollabAgentToolCall', {
          id: call_id,
          tool: 'wait',
          status: 'completed',
          sender_thread_id: thread(1),
          receiver_agents: [],
          receiver_thread_ids: [],
          agents_states: {},
        });
      this.write('inter_agent_communication_metadata', { trigger_turn: false });
      const content = [{ type: 'input_text', text: this.#random.text() }];
      this.#item('agent_message', { author: '/root/helper', recipient: '/root', content });
    }
    this.#item('function_call_output', { call_id, output: this.#random.text() });
  }

  other(): void {
    const kind = this.#random.below(5);
    if (kind === 0) {
      this.#event('web_search_end', {
        call_id: 'ws_1',
        query: this.#random.text(),
        action: { type: 'other' },
      });
      this.#item('web_search_call', { status: 'completed' });
    } else if (kind === 1) {
      this.#event('mcp_tool_call_end', {
        call_id: `exec-${this.lines.length}`,
        invocation: { server: 'apps', tool: 'find', arguments: { query: this.#random.text() } },
        ...this.#some({ connector_id: 'c', link_id: 'l', app_name: 'GitHub', action_name: 'find' }),
        duration: { secs: 0, nanos: 1_000_000 },
        result: { Ok: { content: [{ type: 'text', text: this.#random.text() }] } },
      });
    } else if (kind === 2) this.#event('thread_name_updated', { thread_name: this.#random.text() });
    else if (kind === 3) {
      const settings = { model: 'gpt-5.5', cwd: this.#random.text() };
      this.#event('thread_settings_applied', {
        thread_settings: settings,
        ...this.#some({ thread_id: thread(1) }),
      });
    } else if (this.#age === 'paginated')
      this.#item('additional_tools', { role: 'developer', tools: [{ name: this.#random.text() }] });
  }

  end(): void {
    const figures = {
      started_at: 1_772_357_400,
      completed_at: 1_772_357_500,
      duration_ms: 9,
      root_turn_id: 'turn-1',
    };
    const turn_id = `turn-${this.#turn}`;
    if (this.#random.chance(0.3)) {
      const text = '<turn_aborted>';
      this.#item('message', { role: 'user', content: [{ type: 'input_text', text }] });
      this.#event('turn_aborted', { turn_id, reason: 'interrupted', ...this.#some(figures) });
    } else {
      const more = { ...figures, time_to_first_token_ms: 5, error: { message: this.#random.text() } };
      this.#event('task_complete', { turn_id, last_agent_message: this.#said, ...this.#some(more) });
    }
  }
}

/** A thread of Codex: turns with prompts, thoughts, calls, usage, compactions and agents, resumed or forked. */
export function codexThread(random: RandomChoices): WrittenRecord[] {
  const rollout = new Rollout(random, random.pick(['first', 'multi', 'paginated']));
  if (random.chance(0.25)) rollout.head();
  else rollout.meta();
  const turns = 1 + random.below(2);
  for (let turn = 0; turn < turns; turn += 1) {
    rollout.begin();
    rollout.injected();
    rollout.context();
    rollout.prompt();
    const steps = 1 + random.below(4);
    for (let step = 0; step < steps; step += 1) {
      if (random.chance(0.6)) rollout.thought();
      if (random.chance(0.6)) rollout.said();
      if (random.chance(0.7)) rollout.call();
      if (random.chance(0.15)) rollout.agents();
      if (random.chance(0.3)) rollout.other();
      rollout.counted(random.chance(0.2));
    }
    if (random.chance(0.2)) rollout.compacted();
    if (random.chance(0.8)) rollout.end();
    if (random.chance(0.2)) rollout.meta();
  }
  const file = `rollout-2026-03-01T09-30-00-${thread(1)}.jsonl`;
  return rollout.lines.map((text) => ({ file, text }));
}
