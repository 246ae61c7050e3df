import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CapturedEvent, encodeEvent, type Fidelity, type JsonObject } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { openClaudeStream, openClaudeTranscript } from '../../src/index.ts';
import {
  answer,
  call,
  lines,
  outcome,
  prompt,
  readToEnd,
  readTranscript,
  record,
} from '../transcript/transcripts.ts';
import { assistant, mapMessages, result, corpus as streams, toolResult, toolUse, user } from './mapped.ts';

const canary = (place: string) => `CANARY_${place}_CANARY`;
const canariesIn = (value: unknown) =>
  [...new Set(JSON.stringify(value).match(/CANARY_\w+?_CANARY/g))].sort();

/** Output of the shell and of hooks in the conversation, in every tag that Claude Code uses. */
const shellTexts = [
  `<bash-input>${canary('bash_input')}</bash-input>`,
  `<bash-stdout>${canary('bash_stdout')}</bash-stdout><bash-stderr>${canary('bash_stderr')}</bash-stderr>`,
  `<local-command-stdout>${canary('local_stdout')}</local-command-stdout>`,
  `<local-command-stderr>${canary('local_stderr')}</local-command-stderr>`,
  `<bash-stdout>a forged end</bash-stdout> ${canary('behind_a_forged_end')}</bash-stdout>`,
  `<bash-stdout>${canary('never_closed')}`,
  `<system-reminder>Result of calling the Read tool: ${canary('reminder')}</system-reminder>`,
];

const system = (subtype: string, fields: JsonObject) => ({ type: 'system', subtype, ...fields });

/** A stream with a canary in every field that holds output, or the contents of a file. */
const stream: readonly JsonObject[] = [
  system('init', { model: 'm', session_id: 's', cwd: '/w', tools: [] }),
  assistant([toolUse('t1', 'Write', { file_path: '/a', content: canary('input') })]),
  user([toolResult('t1', canary('result'))], { tool_use_result: { stdout: canary('tool_use_result') } }),
  assistant([toolUse('t2', 'Bash', { command: 'ls', rest: canary('input_two') })]),
  user([toolResult('t2', `It failed.\n${canary('error_line')}`, true)]),
  system('hook_progress', {
    hook_id: 'h',
    output: canary('hook_progress'),
    stdout: canary('hook_progress_stdout'),
    stderr: canary('hook_progress_stderr'),
  }),
  system('hook_response', {
    hook_id: 'h',
    exit_code: 0,
    output: canary('hook_output'),
    stdout: canary('hook_stdout'),
    stderr: canary('hook_stderr'),
  }),
  system('local_command_output', { content: canary('local_command') }),
  system('memory_recall', {
    mode: 'select',
    memories: [{ path: '/m.md', scope: 'user', content: canary('memory') }],
  }),
  system('task_started', { task_id: 'b1', task_type: 'local_bash', prompt: canary('task_prompt') }),
  system('new_kind', { nested: [{ stdout: canary('new_kind') }] }),
  ...shellTexts.map((text) => user(text, { isReplay: true })),
  user(undefined, { message: { content: [] }, tool_use_result: canary('notice') }),
  result({ permission_denials: [{ tool_name: 'Bash', tool_use_id: 't9', tool_input: canary('denied') }] }),
];

const attachments: readonly JsonObject[] = [
  { type: 'hook_success', hookName: 'h', stdout: canary('a1'), stderr: canary('a2'), content: canary('a3') },
  { type: 'hook_non_blocking_error', stdout: canary('a4'), stderr: canary('a5'), exitCode: 1 },
  { type: 'hook_blocking_error', blockingError: { blockingError: canary('a6') } },
  { type: 'hook_additional_context', content: [canary('a7')] },
  { type: 'async_hook_response', response: { systemMessage: canary('a8') } },
  { type: 'edited_text_file', filename: '/a', snippet: canary('a9') },
  { type: 'diagnostics', files: [{ uri: '/a', diagnostics: [{ message: canary('a10') }] }] },
  { type: 'file', filename: '/a', content: { file: { content: canary('a11') } } },
  { type: 'relevant_memories', memories: [{ path: '/m.md', content: canary('a12') }] },
  { type: 'plan_file_reference', planFilePath: '/p', planContent: canary('a13') },
  { type: 'invoked_skills', skills: [{ name: 's', content: canary('a14') }] },
  { type: 'kind_of_tomorrow', whatever: { deep: [canary('a15')] } },
];

const progress: readonly JsonObject[] = [
  { type: 'bash_progress', output: canary('p1'), fullOutput: canary('p2') },
  { type: 'agent_progress', agentId: 'x', prompt: canary('p3'), message: { content: canary('p4') } },
  { type: 'kind_of_tomorrow', lastLine: canary('p5') },
];

/** What the engine writes in the user's name, in the shapes of `isMeta` records of 2.0 and 2.1. */
const engineTexts = [
  `Base directory for this skill: /srv/shop/.claude/skills/tidy\n\n# Tidy\n${canary('skill')}`,
  `Review target: GitHub pull request \`36\`.\n\n${canary('command_file')}`,
  `Contents of /srv/shop/CLAUDE.md:\n\n${canary('memory_file')}`,
  `Stop hook feedback:\n${canary('hook_output')}`,
];

/** A summary as Claude Code writes it: code sections hold pieces of files. */
const summary = [
  'This session is being continued from a previous conversation.',
  '3. Files and Code Sections:',
  '   - `state.go`: added the field `TranscriptPath`',
  '     ```go',
  ...Array.from({ length: 9 }, (_, at) => `     // line ${at} of a file that was read, in full length`),
  `     ${canary('code_in_summary')}`,
  '     ```',
  '   > a quotation of a page',
  `   > ${canary('quotation')}`,
  '4. Errors and fixes: the field was missing.',
].join('\n');

/** A transcript with the same canaries. Records are numbered in order. */
const transcript = [
  (at: number) => answer(at, call('t1', 'Write', { file_path: '/a', content: canary('input') })),
  (at: number) =>
    outcome(at, 't1', canary('result'), { toolUseResult: { stdout: canary('tool_use_result') } }),
  (at: number) => outcome(at, 't1', canary('result_two'), { mcpMeta: { text: canary('mcp') } }),
  ...attachments.map((attachment) => (at: number) => record(at, { type: 'attachment', attachment })),
  ...progress.map((data) => (at: number) => record(at, { type: 'progress', data })),
  ...shellTexts.map((text) => (at: number) => prompt(at, text)),
  ...engineTexts.map((text) => (at: number) => prompt(at, text, { isMeta: true })),
  (at: number) => prompt(at, summary, { isCompactSummary: true }),
  (at: number) => prompt(at, 'Go on.', { planContent: canary('plan') }),
  (at: number) =>
    record(
      at,
      system('stop_hook_summary', { hookErrors: [canary('e1')], hookAdditionalContext: [canary('e2')] }),
    ),
  (at: number) =>
    record(
      at,
      system('local_command', { content: `<local-command-stdout>${canary('l1')}</local-command-stdout>` }),
    ),
  (at: number) => record(at, system('local_command', { content: canary('l2') })),
  () => ({
    type: 'queue-operation',
    operation: 'enqueue',
    content: `<bash-stdout>${canary('q')}</bash-stdout>`,
  }),
  (at: number) => record(at, { type: 'user', message: { content: [] }, toolUseResult: canary('notice') }),
].map((make, at) => make(at + 1) as JsonObject);

const stored = (events: readonly CapturedEvent[]) => events.map((event) => encodeEvent(event)).join('\n');
const cutLine = `{"type":"user","stdout":"${canary('cut_line')}\n`;

async function mapTranscript(fidelity: Fidelity): Promise<CapturedEvent[]> {
  return (await readTranscript(`${cutLine}${lines(...transcript)}`, { fidelity })).events;
}

describe('a narrative of a stream', () => {
  it('holds no output of a tool, a hook or a command, and no contents of a file', () => {
    expect(canariesIn(stream).length).toBeGreaterThan(20);
    expect(canariesIn(stored(mapMessages(stream, 'narrative').events))).toEqual([]);
  });

  it('holds everything at fidelity full', () => {
    // A model reads the result of a call as its `content`; the tool's other output is in the details.
    expect(canariesIn(stored(mapMessages(stream, 'full').events))).toEqual(canariesIn(stream));
  });

  it('keeps the name and outcome of a hook, the paths of memories, and the tags of a text', () => {
    const { events } = mapMessages(stream, 'narrative');
    const [response] = events.filter(({ type }) => type === 'system:hook_response');
    const [recall] = events.filter(({ type }) => type === 'system:memory_recall');
    const texts = events.filter(({ type }) => type === 'user:message').map(({ data }) => data.text);
    expect(response?.data).toEqual({
      hook_id: 'h',
      exit_code: 0,
      leftOut: { output: 25, stdout: 25, stderr: 25 },
    });
    expect(recall?.data).toEqual({
      mode: 'select',
      memories: [{ path: '/m.md', scope: 'user' }],
      leftOut: { content: 20 },
    });
    expect(texts.slice(0, 2)).toEqual([
      '<bash-input></bash-input>',
      '<bash-stdout></bash-stdout><bash-stderr></bash-stderr>',
    ]);
  });
});

describe('a narrative of a transcript', () => {
  it('holds no output of a tool, a hook or a command, and no contents of a file', async () => {
    expect(canariesIn(transcript).length).toBeGreaterThan(30);
    expect(canariesIn(stored(await mapTranscript('narrative')))).toEqual([]);
  });

  it('holds everything at fidelity full', async () => {
    const planted = canariesIn([transcript, cutLine]);
    expect(canariesIn(stored(await mapTranscript('full')))).toEqual(planted);
  });

  it('keeps which hook ran and how it ended', async () => {
    const events = await mapTranscript('narrative');
    const shown = events
      .filter(({ type }) => type === 'system:hook_response')
      .map(({ data }) => data.attachment);
    expect(shown.slice(0, 2)).toEqual([
      { type: 'hook_success', hookName: 'h' },
      { type: 'hook_non_blocking_error', exitCode: 1 },
    ]);
  });

  it('keeps the text around the output of a command', async () => {
    const said = 'Look:\n<bash-stdout>secret</bash-stdout>\nWhat does it mean, if x < y?';
    const { events } = await readTranscript(lines(prompt(1, said)), { fidelity: 'narrative' });
    expect(events[0]?.data.text).toBe('Look:\n<bash-stdout></bash-stdout>\nWhat does it mean, if x < y?');
  });
});

const corpus = join(streams, '..');
const isThere = existsSync(corpus);
const skipped = isThere ? '' : ' (skipped: no corpus; HANSARD_CORPUS names its folder)';
const files = isThere ? globSync('claude-{stream,transcripts}/**/*.jsonl', { cwd: corpus }).sort() : ['none'];
const shortest = 80;

/** Every long line of output of tools, hooks and commands, found in the raw records without the mapping. */
function outputsIn(path: string): string[] {
  const found: string[] = [];
  const take = (value: unknown): void => {
    if (typeof value === 'string') found.push(...value.split('\n').filter((line) => line.length > shortest));
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(take);
  };
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const fields = value as Record<string, unknown>;
    if (fields.type === 'tool_result') take(fields.content);
    for (const [key, field] of Object.entries(fields)) {
      if (['stdout', 'stderr', 'fullOutput', 'originalFile', 'snippet'].includes(key)) take(field);
      else walk(field);
    }
  };
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    try {
      walk(JSON.parse(line));
    } catch {
      // A damaged line has no fields to walk over.
    }
  }
  return [...new Set(found)];
}

/** Texts that a narrative keeps: messages, targets and metadata of calls, first lines of errors, reasons of denials. */
function keptOnPurpose(events: readonly CapturedEvent[]): string {
  const kept = events.flatMap(({ type, data }) => {
    if (['agent:text', 'agent:thinking', 'user:message', 'session:complete'].includes(type)) return [data];
    const { target, metadata, error, reason } = data;
    return [target, metadata, error, reason];
  });
  return kept.map((value) => JSON.stringify(value)).join('\n');
}

describe('the narratives of recorded sessions', () => {
  it.skipIf(!isThere).each(files)(
    `%s: no long line of output is in it, unless it is also in a message${skipped}`,
    async (name) => {
      const path = join(corpus, name);
      const log = name.startsWith('claude-stream')
        ? await openClaudeStream(path)
        : await openClaudeTranscript(path, { subAgents: [] });
      const { events } = await readToEnd(log, 'narrative');
      const bytes = stored(events);
      const said = keptOnPurpose(events);
      const isIn = (text: string, line: string) => text.includes(JSON.stringify(line).slice(1, -1));
      expect(outputsIn(path).filter((line) => isIn(bytes, line) && !isIn(said, line))).toEqual([]);
    },
  );
});
