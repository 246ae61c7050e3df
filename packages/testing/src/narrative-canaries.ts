import type { CapturedEvent, JsonObject, JsonValue, KnownEventType } from '@hansard/events';
import { randomFrom, sampleEvents } from './made-events.ts';

/** Events with a unique word in every field: those that a narrative must not hold, and those that it keeps. */
export interface NarrativeCanaries {
  readonly events: readonly CapturedEvent[];
  readonly secret: readonly string[];
  readonly kept: readonly string[];
}

type Shape = 'whole' | 'line' | 'talk' | 'names' | 'nothing' | 'no text';

/**
 * What the documentation says that a narrative keeps, written a second time. `line`: the first line. `talk`: all but the output
 * of commands. `names`: facts at any depth. `nothing` and `no text`: the field is private. Ids, figures and choices are as in the samples.
 */
const fields: Readonly<Record<KnownEventType, Readonly<Record<string, Shape>>>> = {
  'agent:created': { name: 'whole', languageModel: 'whole' },
  'agent:given': { text: 'talk', tool: 'whole', output: 'nothing' },
  'agent:terminated': { reason: 'line' },
  'agent:revived': { reason: 'line' },
  'agent:undelivered': { text: 'talk' },
  'agent:system_prompt': { text: 'whole' },
  'agent:text': { text: 'whole' },
  'agent:rejected': { text: 'whole', thinking: 'whole', reason: 'whole', hook: 'whole' },
  'agent:thinking': { text: 'whole', signature: 'whole' },
  'agent:tool_call': { tool: 'whole', target: 'line', metadata: 'names', input: 'nothing' },
  'agent:tool_result': {
    tool: 'whole',
    target: 'line',
    metadata: 'names',
    error: 'line',
    output: 'nothing',
  },
  'agent:piece_of_text': { text: 'whole' },
  'agent:inference': { model: 'whole', stopReason: 'line', replay: 'nothing' },
  'agent:message_sent': { text: 'talk' },
  'agent:output': {},
  'user:message': { text: 'talk' },
  'content:stored': {},
  'request:stored': {},
  'session:init': { model: 'whole', sessionId: 'whole', cwd: 'whole' },
  'session:complete': { reason: 'line', result: 'whole' },
  'session:compaction': { trigger: 'line', summary: 'talk' },
  'session:rewind': {},
  'session:fork': { kind: 'whole', through: 'whole' },
  'session:rate_limit': {},
  'session:status': { content: 'talk' },
  'harness:loop_warning': { tool: 'whole', target: 'line' },
  'harness:loop_kill': { tool: 'whole', target: 'line' },
  'harness:stall': {},
  'harness:timeout': {},
  'harness:abort': { reason: 'line', by: 'line' },
  'harness:error': { message: 'line', code: 'whole' },
  'harness:hook_decision': {
    hook: 'whole',
    reason: 'line',
    input: 'nothing',
    given: 'no text',
    text: 'no text',
  },
  'harness:approval_requested': {
    tool: 'whole',
    by: 'line',
    reason: 'line',
    default: 'line',
    input: 'nothing',
  },
  'harness:approval_given': { by: 'line', answer: 'line', note: 'line', input: 'nothing' },
  'harness:answer_stopped': { by: 'line', reason: 'line' },
  'harness:budget_reached': {},
  'harness:model_retried': { message: 'line', code: 'whole', model: 'whole', next: 'whole' },
  'harness:call_started': {},
  'harness:answer_held': { text: 'whole', thinking: 'whole', call: 'nothing' },
  'system:files_persisted': { prompt: 'nothing', preview: 'nothing' },
  'system:hook_started': { hook_name: 'whole', stdin: 'nothing' },
  'system:hook_progress': { hook_name: 'whole', last: 'nothing' },
  'system:hook_response': { hook_name: 'whole', message: 'nothing' },
  'system:task_started': { description: 'whole', prompt: 'nothing' },
  'system:task_progress': { description: 'whole', preview: 'nothing' },
  'system:task_updated': { status: 'whole', result: 'nothing' },
  'system:task_notification': { summary: 'line', result: 'nothing' },
  'system:notice': { problem: 'line', raw: 'nothing' },
};

/** Types whose other fields are kept if they are short. */
const open: ReadonlySet<string> = new Set([
  'session:rate_limit',
  'session:status',
  'system:notice',
  'system:kind_of_tomorrow',
  'game:kind_of_tomorrow',
  'agent:kind_of_tomorrow',
]);

/** Names of fields whose content is private in every type. */
const privateNames = [
  'stdout',
  'stderr',
  'output',
  'fullOutput',
  'input',
  'tool_input',
  'toolInput',
  'tool_use_result',
  'toolUseResult',
  'prompt',
  'snippet',
  'planContent',
  'hookErrors',
] as const;

/** Types without a schema, with content where Claude Code writes it. */
const captured: Readonly<Record<string, (secret: () => string) => JsonObject>> = {
  'system:local_command_output': (secret) => ({ content: secret() }),
  'system:local_command': (secret) => ({
    content: secret(),
    text: `<local-command-stdout>${secret()}</local-command-stdout>`,
  }),
  'system:memory_recall': (secret) => ({ memories: [{ path: 'm.md', content: secret(), note: secret() }] }),
  'system:attachment': (secret) => ({
    attachment: { type: 'of_tomorrow', lines: [secret()], deep: { any: secret() }, blockingError: secret() },
  }),
  'system:tool_progress': (secret) => ({
    data: { type: 'bash_progress', lastLine: secret(), any: secret() },
  }),
  'agent:redacted_thinking': (secret) => ({ data: secret() }),
  'system:exec_command_end': (secret) => ({ aggregated_output: secret(), formatted_output: secret() }),
  'system:patch_apply_end': (secret) => ({
    changes: { 'a.txt': { type: 'update', unified_diff: secret() } },
  }),
  'system:mcp_tool_call_end': (secret) => ({
    invocation: { arguments: { query: secret() } },
    result: { Ok: { content: [{ text: secret() }] } },
  }),
  'system:item_completed': (secret) => ({ item: { type: 'CommandExecution', aggregated_output: secret() } }),
  'system:compacted': (secret) => ({ replacement_history: [{ content: [{ text: secret() }] }] }),
  'system:world_state': (secret) => ({ state: { agents_md: { text: secret() } } }),
  'system:collab_waiting_end': (secret) => ({ statuses: { 't-1': { completed: secret() } } }),
  'user:video': (secret) => ({ source: { type: 'base64', data: secret() } }),
};

/** Types of which only figures and names are kept. */
function isOfNames(type: string): boolean {
  return /^system:(files|hook|task)_/.test(type);
}

/** One event of each type for each round of the seed. */
export function narrativeCanaries(seed: number, rounds: number): NarrativeCanaries {
  return new Canaries(seed, rounds).all();
}

class Canaries {
  readonly #seed: number;
  readonly #random: () => number;
  readonly #secret: string[] = [];
  readonly #kept: string[] = [];
  readonly #events: CapturedEvent[] = [];

  constructor(seed: number, rounds: number) {
    this.#seed = seed;
    this.#random = randomFrom(seed);
    for (let round = 0; round < rounds; round += 1) {
      for (const [type, shapes] of Object.entries(fields))
        this.#add(type, this.#ofKnown(type as KnownEventType, shapes));
      for (const type of open) if (!(type in fields)) this.#add(type, this.#common(type));
      for (const [type, make] of Object.entries(captured))
        this.#add(type, { ...make(() => this.#hide()), ...this.#common(type) });
    }
  }

  all(): NarrativeCanaries {
    return { events: this.#events, secret: this.#secret, kept: this.#kept };
  }

  #hide(): string {
    return this.#planted(this.#secret, 'SECRET');
  }

  #show(): string {
    return this.#planted(this.#kept, 'KEPT');
  }

  #planted(words: string[], kind: string): string {
    const word = `${kind}_${this.#seed}_${words.length}_`;
    words.push(word);
    return word;
  }

  #add(type: string, data: JsonObject): void {
    const id = `C${this.#seed}.${this.#events.length}`;
    const event = { id, type: type as CapturedEvent['type'], timestamp: '2026-03-01T09:30:00.000Z', data };
    // A harness can add fields beside the data.
    const others =
      this.#random() < 0.3 ? { note: this.#show(), stdout: this.#nested(), diff: this.#fileLines() } : {};
    this.#events.push({ ...event, ...others });
  }

  #ofKnown(type: KnownEventType, shapes: Readonly<Record<string, Shape>>): JsonObject {
    const data: JsonObject = { ...sampleEvents[type].data, ...this.#common(type) };
    for (const [key, shape] of Object.entries(shapes)) data[key] = this.#shaped(shape);
    if (type === 'agent:output')
      data.parts = [
        { kind: 'text', text: this.#show() },
        { kind: 'json', json: { seen: this.#show() } },
        { kind: 'image', mediaType: 'image/png', name: this.#show(), base64: this.#hide() },
        { kind: 'text', text: `${this.#show()} ${'- '.repeat(1_000)}${this.#hide()}` },
        { kind: 'json', json: this.#nested() },
      ];
    if (type === 'user:message')
      data.parts = [
        { kind: 'text', name: 'notes.txt', text: this.#hide() },
        {
          kind: 'document',
          mediaType: 'application/pdf',
          name: this.#show(),
          base64: this.#hide(),
          details: { context: this.#hide() },
        },
      ];
    if (type === 'request:stored') {
      const inputSchema = {
        type: 'object',
        title: `${this.#show()}\n${this.#hide()}`,
        output: this.#nested(),
      };
      data.tools = [{ name: this.#show(), description: `${this.#show()}\n${this.#hide()}`, inputSchema }];
      data.parameters = {
        reasoning: this.#show(),
        instructions: `a\n${this.#hide()}`,
        input: this.#nested(),
      };
    }
    if (type === 'session:complete') data.errors = [this.#shaped('line')];
    if (type === 'harness:error')
      data.stack = `Error: ${this.#hide()}\n    at ${this.#show()} (a.ts:1:1)\n${this.#hide()}`;
    if (type === 'harness:hook_decision' && this.#random() < 0.5) {
      Object.assign(data, { on: 'delivery', given: this.#show(), text: this.#show() });
    }
    return data;
  }

  #shaped(shape: Shape): JsonValue {
    switch (shape) {
      case 'whole':
        return this.#show();
      case 'line':
        return this.#random() < 0.5
          ? `${this.#show()}\n${this.#hide()}`
          : `${this.#show()} ${'-'.repeat(220)}${this.#hide()}`;
      case 'talk':
        return `${this.#show()}\n<bash-stdout>${this.#hide()}</bash-stdout>${this.#show()}`;
      case 'names':
        return {
          command: `${this.#show()}\n${this.#hide()}`,
          deep: [{ path: this.#show(), stdout: this.#hide(), output: this.#nested() }],
          structuredPatch: this.#fileLines(),
        };
      case 'no text':
        return this.#hide();
      default:
        return this.#nested();
    }
  }

  /** Fields that no type lists, and `details`. */
  #common(type: string): JsonObject {
    if (isOfNames(type))
      return {
        details: { path: this.#show(), any: this.#hide() },
        unlisted: this.#hide(),
        deeper: this.#nested(),
      };
    if (type in captured) return this.#contents();
    const details: JsonObject = {
      ...this.#contents(),
      name: this.#show(),
      deep: { any: [{ ...this.#contents(), note: this.#show() }] },
    };
    details.attachment = {
      type: this.#show(),
      lines: [this.#hide()],
      file: { content: this.#hide(), any: this.#hide() },
    };
    if (!open.has(type)) return { details, unlisted: this.#hide(), deeper: this.#nested() };
    return { details, unlisted: this.#show(), figures: [1, 2], ...this.#contents(), leftOut: this.#nested() };
  }

  /** Private fields by name, and texts that are too long or have several lines. */
  #contents(): JsonObject {
    const name = privateNames[Math.floor(this.#random() * privateNames.length)] ?? 'stdout';
    return { [name]: this.#nested(), long: `${this.#hide()}${'-'.repeat(200)}`, two: `a\n${this.#hide()}` };
  }

  /** A file as a list: the first lines are kept as names would be. */
  #fileLines(): string[] {
    const lines = Array.from({ length: 20 }, (_, line) => `${line} ${'-'.repeat(20)}`);
    return [...lines, this.#hide(), `${this.#hide()} end`];
  }

  #nested(): JsonValue {
    const depth = Math.floor(this.#random() * 4);
    let value: JsonValue = this.#hide();
    for (let level = 0; level < depth; level += 1)
      value = this.#random() < 0.5 ? [value, this.#hide()] : { type: value, path: this.#hide(), any: level };
    return value;
  }
}
