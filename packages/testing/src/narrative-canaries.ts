import type { CapturedEvent, JsonObject, JsonValue, KnownEventType } from '@hansard/events';
import { randomFrom } from './random-from.ts';
import { sampleEvents } from './sample-events.ts';

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
  'agent:terminated': { reason: 'line' },
  'agent:system_prompt': { text: 'whole' },
  'agent:text': { text: 'whole' },
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
  'agent:output': {},
  'user:message': { text: 'talk' },
  'session:init': { model: 'whole', sessionId: 'whole', cwd: 'whole' },
  'session:complete': { reason: 'line', result: 'whole' },
  'session:compaction': { trigger: 'line', summary: 'talk' },
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
  'user:image': (secret) => ({ source: { type: 'base64', data: secret() } }),
};

/** Types of which only figures and names are kept. */
function isOfNames(type: string): boolean {
  return /^system:(files|hook|task)_/.test(type);
}

/** One event of each type for each round of the seed. */
export function narrativeCanaries(seed: number, rounds: number): NarrativeCanaries {
  const random = randomFrom(seed);
  const secret: string[] = [];
  const kept: string[] = [];
  const events: CapturedEvent[] = [];
  const hide = () => planted(secret, 'SECRET');
  const show = () => planted(kept, 'KEPT');
  for (let round = 0; round < rounds; round += 1) {
    for (const [type, shapes] of Object.entries(fields)) add(type, ofKnown(type as KnownEventType, shapes));
    for (const type of open) if (!(type in fields)) add(type, common(type));
    for (const [type, make] of Object.entries(captured)) add(type, { ...make(hide), ...common(type) });
  }
  return { events, secret, kept };

  function planted(words: string[], kind: string): string {
    const word = `${kind}_${seed}_${words.length}_`;
    words.push(word);
    return word;
  }

  function add(type: string, data: JsonObject): void {
    const id = `C${seed}.${events.length}`;
    const event = { id, type: type as CapturedEvent['type'], timestamp: '2026-03-01T09:30:00.000Z', data };
    // A harness can add fields beside the data.
    const others = random() < 0.3 ? { note: show(), stdout: nested(), diff: fileLines() } : {};
    events.push({ ...event, ...others });
  }

  function ofKnown(type: KnownEventType, shapes: Readonly<Record<string, Shape>>): JsonObject {
    const data: JsonObject = { ...sampleEvents[type].data, ...common(type) };
    for (const [key, shape] of Object.entries(shapes)) data[key] = shaped(shape);
    if (type === 'agent:output')
      data.parts = [
        { kind: 'text', text: hide() },
        { kind: 'json', json: nested() },
      ];
    if (type === 'session:complete') data.errors = [shaped('line')];
    if (type === 'harness:error') data.stack = `Error: ${hide()}\n    at ${show()} (a.ts:1:1)\n${hide()}`;
    if (type === 'harness:hook_decision' && random() < 0.5) {
      Object.assign(data, { on: 'delivery', given: show(), text: show() });
    }
    return data;
  }

  function shaped(shape: Shape): JsonValue {
    switch (shape) {
      case 'whole':
        return show();
      case 'line':
        return random() < 0.5 ? `${show()}\n${hide()}` : `${show()} ${'-'.repeat(220)}${hide()}`;
      case 'talk':
        return `${show()}\n<bash-stdout>${hide()}</bash-stdout>${show()}`;
      case 'names':
        return {
          command: `${show()}\n${hide()}`,
          deep: [{ path: show(), stdout: hide(), output: nested() }],
          structuredPatch: fileLines(),
        };
      case 'no text':
        return hide();
      default:
        return nested();
    }
  }

  /** Fields that no type lists, and `details`. */
  function common(type: string): JsonObject {
    if (isOfNames(type))
      return { details: { path: show(), any: hide() }, unlisted: hide(), deeper: nested() };
    if (type in captured) return contents();
    const details: JsonObject = {
      ...contents(),
      name: show(),
      deep: { any: [{ ...contents(), note: show() }] },
    };
    details.attachment = { type: show(), lines: [hide()], file: { content: hide(), any: hide() } };
    if (!open.has(type)) return { details, unlisted: hide(), deeper: nested() };
    return { details, unlisted: show(), figures: [1, 2], ...contents(), leftOut: nested() };
  }

  /** Private fields by name, and texts that are too long or have several lines. */
  function contents(): JsonObject {
    const name = privateNames[Math.floor(random() * privateNames.length)] ?? 'stdout';
    return { [name]: nested(), long: `${hide()}${'-'.repeat(200)}`, two: `a\n${hide()}` };
  }

  /** A file as a list: the first lines are kept as names would be. */
  function fileLines(): string[] {
    const lines = Array.from({ length: 20 }, (_, line) => `${line} ${'-'.repeat(20)}`);
    return [...lines, hide(), `${hide()} end`];
  }

  function nested(): JsonValue {
    const depth = Math.floor(random() * 4);
    let value: JsonValue = hide();
    for (let level = 0; level < depth; level += 1)
      value = random() < 0.5 ? [value, hide()] : { type: value, path: hide(), any: level };
    return value;
  }
}
