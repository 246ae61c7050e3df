import type { KnownEventType } from '../types/event.ts';

/** Fields that hold input or output of tools and commands, contents of files or prompts, whatever their length. */
const contentFields: ReadonlySet<string> = new Set([
  'blockingError',
  'citations',
  'content',
  'contents',
  'deferred_tool_use',
  'file_attachments',
  'fullOutput',
  'hookAdditionalContext',
  'hookErrors',
  'inline_pastes',
  'input',
  'lastLine',
  'mcpMeta',
  'output',
  'pasted_content',
  'planContent',
  'prompt',
  'raw',
  'rawBase64',
  'response',
  'snippet',
  'stderr',
  'stdout',
  'systemMessage',
  'todos',
  'toolInput',
  'toolUseResult',
  'tool_input',
  'tool_use_result',
]);

/** Fields of captured data that hold an object of the engine, of which only names are kept. */
const objects: ReadonlySet<string> = new Set(['attachment', 'data', 'memories', 'source']);

/** Fields of captured data whose texts name something: an id, a kind, a path, a command, a state. */
const namingFields: ReadonlySet<string> = new Set([
  'addedNames',
  'addedTypes',
  'agentId',
  'agent_id',
  'allowedTools',
  'code',
  'command',
  'commandMode',
  'condition',
  'cwd',
  'description',
  'details',
  'displayPath',
  'end_time',
  'entrypoint',
  'file',
  'file_id',
  'filename',
  'files',
  'gitBranch',
  'hook',
  'hookEvent',
  'hookName',
  'hook_event',
  'hook_id',
  'hook_name',
  'ideName',
  'kind',
  'last_tool_name',
  'level',
  'mode',
  'name',
  'names',
  'newDate',
  'origin',
  'outcome',
  'output_file',
  'parentToolUseID',
  'parentUuid',
  'parent_tool_use_id',
  'patch',
  'path',
  'pendingMcpServers',
  'planFilePath',
  'query',
  'readdedNames',
  'reminderType',
  'removedNames',
  'removedTypes',
  'run_id',
  'scope',
  'serverName',
  'sessionId',
  'session_id',
  'slug',
  'source_uuid',
  'status',
  'subagent_type',
  'subtype',
  'taskDescription',
  'taskType',
  'task_description',
  'task_id',
  'task_type',
  'timestamp',
  'toolName',
  'toolUseID',
  'tool_name',
  'tool_use_id',
  'type',
  'usage',
  'userType',
  'uuid',
  'version',
  'workflow_name',
]);

/**
 * How `narrative` fidelity keeps a field:
 *
 * - `whole`: unchanged. Talk, thoughts, ids and figures.
 * - `said`: the text without the output of commands that Claude Code encloses in tags.
 * - `command`: a command that a user typed, which Claude Code encloses in tags; of any other text nothing.
 * - `line`: the first line of a text, at most 200 characters.
 * - `lines`: names, figures and facts at any depth; of each text the first line. Without `contentFields`.
 * - `frames`: the calls of a stack trace, without its message.
 * - `delivery`: the text of a decision on a delivery, which is talk; of any other decision nothing.
 * - `observed`: the first parts of an observation, together at most 2,000 characters. A text that does not fit is cut, and no part
 *   follows it; of an image, a document or a sound what names it stays, and of an encoded value that does not fit its length.
 * - `heard`: as `said`; of a text of the engine or a hook, which can be a file that it read, the first line.
 * - `summary`: as `said`; of the blocks of code and the quotations in it, together at most 200 characters.
 * - `attached`: what names each attachment: kind, type, digest, size and the first line of its name and address. No text.
 * - `short`: figures and texts of one line and at most 200 characters, at any depth. Without `contentFields`; of `objects` only
 *   what `names` keeps.
 * - `names`: figures, and short texts of `namingFields`, at any depth. Without `contentFields`.
 *
 * Of the texts of one list at most 200 characters stay.
 */
export type Treatment =
  | 'whole'
  | 'said'
  | 'heard'
  | 'summary'
  | 'command'
  | 'line'
  | 'lines'
  | 'frames'
  | 'delivery'
  | 'observed'
  | 'attached'
  | 'short'
  | 'names';

/** The fields of a type that `narrative` keeps. `rest`: how it keeps the others. Absent: not at all. */
export interface KeptFields {
  readonly fields: Readonly<Record<string, Treatment>>;
  readonly rest?: 'short' | 'names';
}

const call = {
  toolCallId: 'whole',
  tool: 'whole',
  target: 'line',
  metadata: 'lines',
  withheld: 'whole',
} as const;
const loop = {
  tool: 'whole',
  target: 'line',
  count: 'whole',
  limit: 'whole',
  window: 'whole',
  calls: 'lines',
  results: 'whole',
} as const;
const named: KeptFields = { fields: {}, rest: 'names' };

/** The fields that `narrative` keeps of any type with a list of its own. */
const keptOfAll: Readonly<Record<string, Treatment>> = { details: 'short', turn: 'line' };

/** The fields that `narrative` keeps of each known type. */
const narrativeFields: Readonly<Record<KnownEventType, KeptFields>> = {
  'agent:created': {
    fields: { name: 'whole', languageModel: 'whole', peer: 'whole', hook: 'whole', inherits: 'whole' },
  },
  'agent:given': {
    fields: {
      role: 'whole',
      text: 'heard',
      thinking: 'whole',
      toolCalls: 'names',
      toolCallId: 'whole',
      tool: 'whole',
      isError: 'whole',
      source: 'lines',
      parts: 'attached',
    },
  },
  'agent:terminated': { fields: { reason: 'line' } },
  'agent:revived': { fields: { reason: 'line', missed: 'whole', missingTools: 'whole' } },
  'agent:undelivered': { fields: { text: 'heard', source: 'lines', parts: 'attached' } },
  'agent:system_prompt': { fields: { text: 'whole', outcomesOf: 'whole' } },
  'agent:text': { fields: { text: 'whole', withheld: 'whole' } },
  'agent:rejected': {
    fields: { text: 'whole', thinking: 'whole', reason: 'whole', hook: 'whole', retry: 'whole' },
  },
  'agent:thinking': { fields: { text: 'whole', signature: 'whole', withheld: 'whole' } },
  'agent:tool_call': { fields: call },
  'agent:tool_result': { fields: { ...call, status: 'whole', durationMs: 'whole', error: 'line' } },
  'agent:piece_of_text': { fields: { text: 'whole' } },
  'agent:inference': {
    fields: {
      model: 'whole',
      durationMs: 'whole',
      usage: 'lines',
      costUsd: 'whole',
      stopReason: 'line',
      context: 'whole',
      request: 'whole',
    },
  },
  'agent:message_sent': { fields: { text: 'said', to: 'whole' } },
  'agent:output': { fields: { parts: 'observed' } },
  'user:message': {
    fields: { text: 'heard', source: 'lines', parts: 'attached', command: 'whole', withheld: 'whole' },
  },
  'content:stored': { fields: { sha256: 'whole', size: 'whole' } },
  'request:stored': { fields: { tools: 'lines', parameters: 'short' } },
  'session:init': { fields: { model: 'whole', sessionId: 'whole', cwd: 'whole', tools: 'whole' } },
  'session:complete': {
    fields: {
      status: 'whole',
      reason: 'line',
      result: 'whole',
      structuredResult: 'whole',
      costUsd: 'whole',
      usage: 'lines',
      models: 'whole',
      durationMs: 'whole',
      turns: 'whole',
      errors: 'lines',
    },
  },
  'session:compaction': {
    fields: {
      trigger: 'line',
      preTokens: 'whole',
      postTokens: 'whole',
      summary: 'summary',
      keptFrom: 'whole',
    },
  },
  'session:rewind': { fields: { keptThrough: 'whole', left: 'whole' } },
  'session:fork': { fields: { from: 'whole', kind: 'whole', through: 'whole', usage: 'lines' } },
  'session:rate_limit': { fields: {}, rest: 'short' },
  'session:status': { fields: { content: 'said' }, rest: 'short' },
  'harness:loop_warning': { fields: loop },
  'harness:loop_kill': { fields: loop },
  'harness:stall': { fields: { idleMs: 'whole', limitMs: 'whole' } },
  'harness:timeout': { fields: { elapsedMs: 'whole', limitMs: 'whole' } },
  'harness:abort': { fields: { reason: 'line', by: 'line' } },
  'harness:error': {
    fields: { message: 'line', code: 'whole', stack: 'frames', hook: 'whole', withheld: 'whole' },
  },
  'harness:hook_decision': {
    fields: {
      hook: 'whole',
      on: 'whole',
      decision: 'whole',
      reason: 'line',
      toolCallId: 'whole',
      subject: 'whole',
      previous: 'whole',
      madeFrom: 'whole',
      given: 'delivery',
      text: 'delivery',
    },
  },
  'harness:approval_requested': {
    fields: {
      toolCallId: 'whole',
      tool: 'whole',
      kind: 'whole',
      by: 'line',
      reason: 'line',
      choices: 'lines',
      deadline: 'whole',
      default: 'line',
    },
  },
  'harness:approval_given': {
    fields: {
      toolCallId: 'whole',
      decision: 'whole',
      answer: 'line',
      by: 'line',
      note: 'line',
      scope: 'whole',
      earlier: 'whole',
    },
  },
  'harness:answer_stopped': { fields: { by: 'line', reason: 'line', messageId: 'whole', through: 'whole' } },
  'harness:budget_reached': {
    fields: { scope: 'whole', what: 'whole', limit: 'whole', spent: 'whole', isSpent: 'whole' },
  },
  'harness:model_retried': {
    fields: {
      message: 'line',
      code: 'whole',
      stack: 'frames',
      attempt: 'whole',
      model: 'whole',
      next: 'whole',
      delayMs: 'whole',
    },
  },
  'harness:call_started': { fields: { toolCallId: 'whole' } },
  'harness:answer_held': { fields: { messageId: 'whole', text: 'whole', thinking: 'whole' } },
  'system:files_persisted': named,
  'system:hook_started': named,
  'system:hook_progress': named,
  'system:hook_response': named,
  'system:task_started': named,
  'system:task_progress': named,
  'system:task_updated': named,
  'system:task_notification': { fields: { summary: 'line' }, rest: 'names' },
  'system:notice': { fields: { problem: 'line', file: 'line', message: 'line' }, rest: 'short' },
};

/** Types that a mapping captures without a schema, with what is known of their fields. */
const narrativeFieldsOfCaptured: Readonly<Record<string, KeptFields>> = {
  'agent:redacted_thinking': named,
  'system:attachment': named,
  'system:tool_progress': named,
  // Codex: what processes printed and patches changed, and what a thread repeats of its context.
  'system:exec_command_end': named,
  'system:patch_apply_end': named,
  'system:mcp_tool_call_end': named,
  'system:item_completed': named,
  'system:compacted': named,
  'system:world_state': named,
  'system:collab_waiting_end': named,
  'system:memory_recall': named,
  'system:local_command_output': named,
  // What a user typed: a command in tags, or the next prompt.
  'system:local_command': { fields: { content: 'command' }, rest: 'short' },
  'system:queue_operation': { fields: { content: 'said' }, rest: 'short' },
  // Texts that the engine writes about the conversation.
  'system:away_summary': { fields: { content: 'said' }, rest: 'short' },
  'system:compact_boundary': { fields: { content: 'said' }, rest: 'short' },
  'system:informational': { fields: { content: 'said' }, rest: 'short' },
};

/** The categories in which mappings capture what has no type of its own, such as `system:KIND`. */
export const mappedCategories: ReadonlySet<string> = new Set([
  'system',
  'claude',
  'claude_session',
  'game_log',
  'session_v1',
  'session_v2',
]);

/** The fields of every other type that a mapping captures: keys, figures and short values. */
const narrativeFieldsOfOthers: KeptFields = { fields: {}, rest: 'short' };

/** The rule of `narrative` fidelity, as data. */
export interface NarrativeRules {
  readonly ofType: Readonly<Record<string, KeptFields>>;
  readonly ofCaptured: Readonly<Record<string, KeptFields>>;
  readonly ofOthers: KeptFields;
  readonly ofAll: Readonly<Record<string, Treatment>>;
  readonly contentFields: ReadonlySet<string>;
  readonly objects: ReadonlySet<string>;
  readonly namingFields: ReadonlySet<string>;
}

export const narrativeRules: NarrativeRules = {
  ofType: narrativeFields,
  ofCaptured: narrativeFieldsOfCaptured,
  ofOthers: narrativeFieldsOfOthers,
  ofAll: keptOfAll,
  contentFields,
  objects,
  namingFields,
};
