import type { RandomChoices, WrittenRecord } from '../src/index.ts';

type Fields = Record<string, unknown>;

const start = Date.parse('2026-03-01T09:30:00.000Z');
const uuid = (number: number) => `82214fec-c62f-49b5-8d7f-${String(number).padStart(12, '0')}`;

const ownAgent = {
  subagent_name: 'managed-auto-memory-extractor',
  subagent_id: 'managed-1',
  subagent_type: 'managed-auto-memory-extractor',
};
const subAgent = {
  subagent_name: 'general-purpose',
  subagent_id: 'general-purpose-call_8_0',
  subagent_type: 'general-purpose',
};
const attribution = {
  ...{ type: 'attribution-snapshot', version: 1, surface: 'cli', fileStates: {} },
  ...{ promptCount: 1, promptCountAtLastCommit: 0 },
};

/** Writes a session as Qwen Code does, made after recordings of 0.24. */
class Session {
  readonly records: Fields[] = [];
  readonly #random: RandomChoices;
  readonly #isSubAgent: boolean;
  readonly #isFork: boolean;
  #calls = 0;
  #parent: string | null = null;

  constructor(random: RandomChoices) {
    this.#random = random;
    this.#isSubAgent = random.chance(0.3);
    this.#isFork = !this.#isSubAgent && random.chance(0.3);
  }

  #time(): string {
    return new Date(start + this.records.length * 1_000).toISOString();
  }

  #record(type: string, provenance: string, fields: Fields): void {
    const id = uuid(this.records.length + 1);
    const agent = { agentId: 'general-purpose-call_8_0', agentName: 'general-purpose', isSidechain: true };
    const isRound = this.#isSubAgent && type === 'assistant' && this.#random.chance(0.5);
    this.records.push({
      uuid: id,
      parentUuid: this.#parent,
      sessionId: uuid(900),
      timestamp: this.#time(),
      type,
      ...(this.#isSubAgent ? agent : { provenance }),
      cwd: '/srv/shop',
      version: '0.24.4',
      gitBranch: 'main',
      ...fields,
      ...(isRound ? { agentRunId: uuid(800), agentRound: 1 } : {}),
      ...(this.#isFork && this.records.length < 4
        ? { forkedFrom: { sessionId: uuid(901), messageUuid: id } }
        : {}),
    });
    this.#parent = this.#random.chance(0.05) ? uuid(1) : id;
  }

  prompt(): void {
    const isNote = this.#random.chance(0.3);
    this.#record('user', isNote ? 'system' : 'real_user', {
      ...(isNote ? { subtype: 'notification', systemPayload: { displayText: this.#random.text() } } : {}),
      message: { role: 'user', parts: [{ text: this.#random.text() }] },
    });
  }

  answer(): void {
    const [prompt = 0, output = 0, thoughts = 0, cached = 0] = [1_000, 10, 1, 100].map(
      (most) => most + this.#random.below(9),
    );
    const calls = Array.from({ length: this.#random.below(3) }, () => {
      this.#calls += 1;
      return {
        functionCall: {
          id: `call_${this.#calls}`,
          name: this.#random.pick(['read_file', 'run_shell_command']),
          args: { command: this.#random.text() },
        },
      };
    });
    const parts = [
      ...(this.#random.chance(0.4) ? [{ text: this.#random.text(), thought: true }] : []),
      ...(this.#random.chance(0.8) ? [{ text: this.#random.text() }] : []),
      ...calls,
    ];
    const isInterrupted = this.#random.chance(0.1);
    const total = prompt + output + (this.#random.chance(0.3) ? thoughts : 0);
    const usageMetadata = {
      promptTokenCount: prompt,
      candidatesTokenCount: output,
      thoughtsTokenCount: thoughts,
      totalTokenCount: total,
      cachedContentTokenCount: cached,
    };
    this.#record('assistant', 'assistant_output', {
      ...(this.#isSubAgent ? {} : { model: 'qwen3-coder-plus' }),
      message: { role: 'model', parts },
      ...(isInterrupted ? {} : { usageMetadata }),
      ...(this.#random.chance(0.8) ? { contextWindowSize: 1_000_000 } : {}),
    });
    for (const { functionCall } of calls) this.#result(functionCall.id, functionCall.name);
  }

  #result(id: string, name: string): void {
    const isError = this.#random.chance(0.3);
    const response = isError ? { error: this.#random.text() } : { output: this.#random.text() };
    const shell = {
      ...{ error: null, notices: [], outputFiles: [], text: this.#random.text(), truncated: false },
      type: 'shell_result',
      version: 1,
      directory: '/srv/shop',
      exitCode: isError ? 3 : 0,
      signal: null,
      pid: null,
      outcome: this.#random.text(),
      output: this.#random.text(),
    };
    const agent = {
      type: 'task_execution',
      subagentName: 'general-purpose',
      taskDescription: this.#random.text(),
      taskPrompt: this.#random.text(),
      status: 'background',
      subagentColor: 'blue',
      executionMode: 'background',
      subagentSessionReady: true,
      toolCalls: [],
    };
    const resultDisplay = this.#random.pick<unknown>([shell, this.#random.text(), agent, '']);
    const status = isError ? 'error' : 'success';
    this.#record('tool_result', 'tool_result', {
      message: { role: 'user', parts: [{ functionResponse: { id, name, response } }] },
      toolCallResult: this.#isSubAgent
        ? { callId: id, durationMs: 121 }
        : {
            callId: id,
            status,
            resultDisplay,
            executionStatus: status,
            ...(isError ? { error: this.#random.text(), errorType: 'x' } : {}),
          },
    });
  }

  system(): void {
    const answer = {
      'event.name': 'qwen-code.api_response',
      'event.timestamp': this.#time(),
      response_id: this.#random.text(),
      model: 'qwen3-coder-plus',
      status_code: 200,
      duration_ms: 10,
      ...{
        input_token_count: 500,
        output_token_count: 5,
        cached_content_token_count: 50,
        thoughts_token_count: 1,
        total_token_count: 505,
      },
      response_text: this.#random.text(),
      prompt_id: this.#random.text(),
      auth_type: 'openai',
      ttft_ms: 5,
      ...this.#random.pick([ownAgent, subAgent, {}]),
    };
    const call = {
      'event.name': 'qwen-code.tool_call',
      'event.timestamp': this.#time(),
      ...{
        call_id: 'call_1',
        function_name: 'read_file',
        function_args: { file_path: this.#random.text() },
        duration_ms: 29,
        status: 'error',
        execution_status: 'error',
        success: false,
      },
      ...{
        decision: 'auto_accept',
        error: this.#random.text(),
        error_type: 'x',
        prompt_id: this.#random.text(),
        response_id: 'r',
        tool_type: 'native',
        content_length: 33,
      },
      ...{ ...subAgent, subagent_task_name: 'Count', metadata: {} },
    };
    const snapshot = { ...attribution, note: this.#random.text() };
    const [subtype, systemPayload] = this.#random.pick<readonly [string, Fields]>([
      ['ui_telemetry', { uiEvent: answer }],
      ['ui_telemetry', { uiEvent: answer }],
      ['ui_telemetry', { uiEvent: call }],
      ['attribution_snapshot', { snapshot }],
    ]);
    this.#record('system', 'system', { subtype, systemPayload });
  }
}

export function qwenSession(random: RandomChoices): WrittenRecord[] {
  const session = new Session(random);
  session.prompt();
  session.answer();
  if (random.chance(0.5)) session.system();
  while (session.records.length < 7 + random.below(8))
    random.pick([
      () => session.prompt(),
      () => session.answer(),
      () => session.answer(),
      () => session.system(),
    ])();
  return session.records.map((record) => ({ file: 'chat.jsonl', text: JSON.stringify(record) }));
}
