import { createHash } from 'node:crypto';
import type { JsonObject } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { assistant, mapMessages, ofType, toolResult, toolUse, user } from './mapped.ts';

interface Pair {
  readonly tool: string;
  readonly input: JsonObject;
  readonly content?: unknown;
  readonly output?: unknown;
  readonly isError?: boolean;
  /** Content and output as they are recorded, if that differs. */
  readonly stored?: unknown;
  readonly storedOutput?: unknown;
}

function mapPair(
  { tool, input, content = 'ok', output, isError = false }: Pair,
  fidelity: 'narrative' | 'full' = 'narrative',
) {
  const fields = output === undefined ? {} : { tool_use_result: output as JsonObject };
  const { events } = mapMessages(
    [assistant([toolUse('t1', tool, input)]), user([toolResult('t1', content, isError)], fields)],
    fidelity,
  );
  return {
    events,
    call: ofType(events, 'agent:tool_call')[0]?.data as JsonObject,
    result: ofType(events, 'agent:tool_result')[0]?.data as JsonObject,
  };
}

const canaryImage = {
  kind: 'image',
  mediaType: 'image/png',
  sha256: createHash('sha256').update(Buffer.from('CANARY==', 'base64')).digest('hex'),
  size: 4,
};
const contents = 'CANARY first\nCANARY second\n';

/** Calls with a canary in all contents of files and pages and all output of commands. */
const pairs: readonly (Pair & { name: string; target?: string; metadata: JsonObject })[] = [
  {
    name: 'a command',
    tool: 'Bash',
    input: { command: 'cat a.txt\necho done', description: 'show it', timeout: 5_000 },
    content: contents,
    output: { stdout: contents, stderr: '', interrupted: false },
    target: 'cat a.txt',
    metadata: { command: 'cat a.txt', description: 'show it', timeoutMs: 5_000, exitCode: 0 },
  },
  {
    name: 'a command that failed',
    tool: 'Bash',
    input: { command: 'false' },
    content: `Exit code 7\n${contents}`,
    output: `Error: Exit code 7\n${contents}`,
    isError: true,
    target: 'false',
    metadata: { command: 'false', exitCode: 7 },
  },
  {
    name: 'a command whose exit code has a meaning',
    tool: 'Bash',
    input: { command: 'grep x a.txt' },
    output: { stdout: '', stderr: '', interrupted: false, returnCodeInterpretation: 'No matches found' },
    metadata: { command: 'grep x a.txt', meaning: 'No matches found' },
  },
  {
    name: 'a command in the background',
    tool: 'Bash',
    input: { command: 'serve', run_in_background: true },
    output: { stdout: '', stderr: '', interrupted: false, backgroundTaskId: 'b1' },
    metadata: { command: 'serve', runInBackground: true, backgroundTaskId: 'b1' },
  },
  {
    name: 'a file that is read',
    tool: 'Read',
    input: { file_path: '/w/a.txt', offset: 1, limit: 2 },
    content: contents,
    output: {
      type: 'text',
      file: { filePath: '/w/a.txt', content: contents, numLines: 2, startLine: 1, totalLines: 9 },
    },
    target: '/w/a.txt',
    metadata: {
      path: '/w/a.txt',
      offset: 1,
      limit: 2,
      kind: 'text',
      startLine: 1,
      numLines: 2,
      totalLines: 9,
    },
  },
  {
    name: 'an image that is read',
    tool: 'Read',
    input: { file_path: '/w/a.png' },
    content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'CANARY==' } }],
    output: { type: 'image', file: { base64: 'CANARY==', type: 'image/png', originalSize: 512 } },
    stored: [canaryImage],
    storedOutput: { type: 'image', file: { ...canaryImage, details: { originalSize: 512 } } },
    metadata: { path: '/w/a.png', kind: 'image', size: 512 },
  },
  {
    name: 'an edit',
    tool: 'Edit',
    input: { file_path: '/w/a.txt', old_string: 'CANARY', new_string: 'CANARY é', replace_all: true },
    output: {
      filePath: '/w/a.txt',
      originalFile: contents,
      oldString: 'CANARY',
      newString: 'CANARY é',
      replaceAll: true,
    },
    target: '/w/a.txt',
    metadata: { path: '/w/a.txt', replaceAll: true, sizeBefore: 27, sizeAfter: 33 },
  },
  {
    name: 'an edit of a text that is not there to the letter',
    tool: 'Edit',
    input: { file_path: '/w/a.txt', old_string: 'x', new_string: 'y' },
    output: { originalFile: contents, oldString: 'x', newString: 'y', replaceAll: false },
    metadata: { path: '/w/a.txt', sizeBefore: 27 },
  },
  {
    name: 'an edit that failed',
    tool: 'Edit',
    input: { file_path: '/w/a.txt', old_string: 'CANARY', new_string: '' },
    content: '<tool_use_error>String to replace not found in file.\nString: CANARY</tool_use_error>',
    output: 'Error: String to replace not found in file.\nString: CANARY',
    isError: true,
    metadata: { path: '/w/a.txt' },
  },
  {
    name: 'several edits',
    tool: 'MultiEdit',
    input: { file_path: '/w/a.txt', edits: [{ old_string: 'first', new_string: '1' }] },
    output: { originalFileContents: contents, edits: [{ old_string: 'first', new_string: '1' }] },
    metadata: { path: '/w/a.txt', numEdits: 1, sizeBefore: 27, sizeAfter: 23 },
  },
  {
    name: 'a new file',
    tool: 'Write',
    input: { file_path: '/w/b.txt', content: contents },
    output: { type: 'create', filePath: '/w/b.txt', content: contents, originalFile: null },
    metadata: { path: '/w/b.txt', sizeBefore: 0, sizeAfter: 27 },
  },
  {
    name: 'a file that is written again',
    tool: 'Write',
    input: { file_path: '/w/b.txt', content: contents },
    output: { type: 'update', filePath: '/w/b.txt', content: contents, originalFile: 'CANARY' },
    metadata: { path: '/w/b.txt', sizeBefore: 6, sizeAfter: 27 },
  },
  {
    name: 'a cell of a notebook',
    tool: 'NotebookEdit',
    input: { notebook_path: '/w/n.ipynb', new_source: 'CANARY', cell_id: 'c1', edit_mode: 'replace' },
    output: { original_file: 'CANARY', updated_file: 'CANARY!' },
    target: '/w/n.ipynb',
    metadata: { path: '/w/n.ipynb', cellId: 'c1', editMode: 'replace', sizeBefore: 6, sizeAfter: 7 },
  },
  {
    name: 'files by name',
    tool: 'Glob',
    input: { pattern: '**/*.ts', path: '/w' },
    content: 'CANARY.ts',
    output: { numFiles: 1, filenames: ['CANARY.ts'], durationMs: 3, truncated: true },
    target: '**/*.ts',
    metadata: { pattern: '**/*.ts', path: '/w', numFiles: 1, truncated: true },
  },
  {
    name: 'files by content',
    tool: 'Grep',
    input: { pattern: 'a.c', glob: '*.md', output_mode: 'content' },
    content: 'CANARY',
    output: { mode: 'content', numFiles: 2, numMatches: 5, filenames: [], content: 'CANARY', numLines: 5 },
    metadata: {
      pattern: 'a.c',
      glob: '*.md',
      outputMode: 'content',
      numFiles: 2,
      numMatches: 5,
      numLines: 5,
    },
  },
  {
    name: 'a page',
    tool: 'WebFetch',
    input: { url: 'https://example.org/', prompt: 'sum up' },
    content: 'CANARY',
    output: { bytes: 1234, code: 200, codeText: 'OK', result: 'CANARY', url: 'https://example.org/' },
    target: 'https://example.org/',
    metadata: { url: 'https://example.org/', bytes: 1234, code: 200 },
  },
  {
    name: 'a search of the web',
    tool: 'WebSearch',
    input: { query: 'ulid', allowed_domains: ['example.org'] },
    content: 'CANARY',
    output: {
      query: 'ulid',
      results: [{ tool_use_id: 'x', content: [{ title: 'CANARY' }, { title: 'b' }] }, 'CANARY'],
    },
    target: 'ulid',
    metadata: { query: 'ulid', allowedDomains: ['example.org'], results: 2 },
  },
  {
    name: 'a sub-agent',
    tool: 'Task',
    input: { description: 'look', subagent_type: 'Explore', prompt: 'look at it', model: 'haiku' },
    content: 'CANARY',
    output: {
      status: 'completed',
      agentId: 'a1',
      content: [{ type: 'text', text: 'CANARY' }],
      totalDurationMs: 10,
      totalTokens: 20,
      totalToolUseCount: 3,
      resolvedModel: 'claude-small',
    },
    target: 'Explore',
    metadata: {
      description: 'look',
      subagentType: 'Explore',
      model: 'haiku',
      outcome: 'completed',
      resolvedModel: 'claude-small',
      totalDurationMs: 10,
      totalTokens: 20,
      totalToolUseCount: 3,
      agentId: 'a1',
    },
  },
  {
    name: 'a tool of an MCP server',
    tool: 'mcp__git_hub__create__issue',
    input: { title: 'Bug', body: 'CANARY' },
    content: 'CANARY',
    output: { text: 'CANARY' },
    target: 'Bug',
    metadata: { server: 'git_hub', tool: 'create__issue', argumentKeys: ['title', 'body'] },
  },
  {
    name: 'any other tool',
    tool: 'Skill',
    input: { skill: 'verify', args: 'CANARY' },
    content: 'CANARY',
    target: 'verify',
    metadata: {},
  },
];

describe('metadata of tools', () => {
  it.each(pairs)('$name: target and metadata', (pair) => {
    const { call, result } = mapPair(pair);
    if (pair.target !== undefined) expect([call.target, result.target]).toEqual([pair.target, pair.target]);
    expect(result.metadata).toEqual(pair.metadata);
    expect(result).toMatchObject({
      tool: pair.tool,
      status: pair.isError ? 'error' : 'completed',
      durationMs: 1_000,
    });
  });

  it('a command of several lines: the first at narrative fidelity, all at full', () => {
    const [pair] = pairs;
    const commands = (['narrative', 'full'] as const).map(
      (fidelity) => (mapPair(pair as Pair, fidelity).call.metadata as JsonObject).command,
    );
    expect(commands).toEqual(['cat a.txt', 'cat a.txt\necho done']);
  });

  it.each(pairs)('$name: no content and no output at narrative fidelity', (pair) => {
    const text = JSON.stringify(mapPair(pair).events);
    expect(text).not.toContain('CANARY');
  });

  it.each(pairs.filter(({ content }) => content !== undefined))(
    '$name: everything at full fidelity',
    (pair) => {
      const { call, result } = mapPair(pair, 'full');
      expect(call.input).toEqual(pair.input);
      expect(result.output).toEqual(pair.stored ?? pair.content);
      const details = result.details as JsonObject | undefined;
      expect(details?.tool_use_result).toEqual(pair.storedOutput ?? pair.output);
    },
  );

  it('an error is reported in one line', () => {
    const failed = pairs.filter(({ isError }) => isError).map((pair) => mapPair(pair).result.error);
    expect(failed).toEqual(['Exit code 7', 'String to replace not found in file.']);
    expect(mapPair({ tool: 'X', input: {}, content: '', isError: true }).result.error).toBe(
      'the tool failed',
    );
  });

  it('tools of the API itself have calls and results too', () => {
    const { events } = mapMessages([
      assistant([
        { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'ulid' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 's1',
          content: [{ type: 'web_search_result', title: 'CANARY' }],
        },
        { type: 'mcp_tool_use', id: 'm1', name: 'ask', server_name: 'wiki', input: { q: 'CANARY' } },
        {
          type: 'mcp_tool_result',
          tool_use_id: 'm1',
          is_error: true,
          content: [{ type: 'text', text: 'gone\nCANARY' }],
        },
        { type: 'server_tool_use', id: 's2', name: 'web_fetch', input: { url: 'https://example.org/' } },
        {
          type: 'web_fetch_tool_result',
          tool_use_id: 's2',
          content: { type: 'web_fetch_tool_result_error', error_code: 'unavailable' },
        },
      ]),
    ]);
    expect(ofType(events, 'agent:tool_call').map(({ data }) => [data.tool, data.target])).toEqual([
      ['web_search', 'ulid'],
      ['mcp__wiki__ask', undefined],
      ['web_fetch', 'https://example.org/'],
    ]);
    expect(ofType(events, 'agent:tool_result').map(({ data }) => data)).toMatchObject([
      { status: 'completed', metadata: { query: 'ulid', results: 1 } },
      { status: 'error', error: 'gone', metadata: { server: 'wiki', argumentKeys: ['q'] } },
      { status: 'error', error: 'unavailable' },
    ]);
    expect(JSON.stringify(events)).not.toContain('CANARY');
  });

  it('a result whose call is not in the stream is kept', () => {
    const { events } = mapMessages([user([toolResult('lost', 'x')])]);
    expect(events[0]?.data).toEqual({
      toolCallId: 'lost',
      leftOut: { output: 1 },
      tool: 'unknown',
      status: 'completed',
      metadata: {},
    });
  });
});
