import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TrainingFormatId, TrainingManifest } from '@hansard/datasets';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { openScriptedModel } from '@hansard/model-scripted';
import { createTokenCounter } from '@hansard/prompt/tokens';
import type { LanguageModelProvider, ModelMessage } from '@hansard/provider';
import { openSession } from '@hansard/session';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { appendEvents, createDispatch } from '@hansard/testing';
import { createSessionTools } from '@hansard/tools-session';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';
import { scenarioPath } from './play-scenario.ts';

const formats: readonly TrainingFormatId[] = ['sft', 'trl', 'trl-chat', 'openai'];
const taskDir = 'scenes/tasks/cafe';

// biome-ignore lint/suspicious/noExplicitAny: packages/formats checks rows by schemas; here they are read as JSON.
type Row = Record<string, any>;

/** What the models were really given, in the order of their calls, by dispatch. */
const given: Record<string, { agentName: string | null; messages: readonly ModelMessage[] }[]> = {};
let cli: CommandLine;

beforeAll(async () => {
  cli = commandLine();
  const store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
  const scripted = await openScriptedModel({ path: scenarioPath('cafe') });
  const cafe = await openSession({
    store,
    taskDir,
    dispatchId: 'D1',
    role: 'host',
    model: listenedTo('D1', scripted),
    tools: [createSessionTools()],
  });
  await cafe.root.harken('Let Jack and Jill meet in a café.');
  await cafe.root.response();
  await cafe.complete('completed');
  const menu = await openSession({
    store,
    taskDir,
    dispatchId: 'D2',
    systemPrompt: 'Read the menu aloud.',
    context: { name: 'faded', budget: 400 },
    tokens: await createTokenCounter(),
    model: listenedTo('D2', {
      contract: 1,
      generate: async () => ({
        text: `Tea, coffee and rye, number ${given.D2?.length}. `.repeat(5),
        thinking: { text: 'Slowly.' },
        toolCalls: [],
        model: 'reader-1',
        usage: { inputTokens: 9, outputTokens: 9 },
      }),
    }),
  });
  for (let page = 1; page <= 8; page += 1) {
    await menu.root.harken(`Page ${page}, please.`);
    await menu.root.response();
  }
  await menu.complete('completed');
  for (const dispatchId of ['N1', 'N2']) {
    await createDispatch(store, 'scenes/tasks/narrative', {
      dispatchId,
      role: 'host',
      fidelity: 'narrative',
    });
    await appendEvents(store, 'scenes/tasks/narrative', dispatchId, [
      newEvent('agent:text', { text: 'Served.' }),
    ]);
  }
  await createDispatch(store, taskDir, { dispatchId: 'N3', role: 'host', fidelity: 'narrative' });
  await store.close();
});

afterAll(() => cli?.[Symbol.dispose]());

function listenedTo(dispatchId: string, model: LanguageModelProvider): LanguageModelProvider {
  const calls: (typeof given)[string] = [];
  given[dispatchId] = calls;
  return {
    contract: 1,
    generate(request) {
      calls.push({ agentName: request.agentName, messages: structuredClone(request.messages) });
      return model.generate(request);
    },
  };
}

let folders = 0;

async function exportAs(format: TrainingFormatId, ...more: string[]) {
  folders += 1;
  const folder = `training-${folders}`;
  const [first = ''] = more;
  // The first word can be the session of the task.
  const session = first === '' || first.startsWith('-') ? [] : [first];
  const answer = await cli.hansard(
    'export',
    ['scenes/cafe', ...session].join('/'),
    ...more.slice(session.length),
    '--as',
    format,
    '--out',
    folder,
    '--json',
  );
  expect(answer).toMatchObject({ code: 0 });
  const at = join(cli.cwd, folder);
  const manifest = JSON.parse(readFileSync(join(at, 'manifest.json'), 'utf8')) as TrainingManifest;
  const text = readFileSync(join(at, manifest.file), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  return {
    ...answer,
    manifest,
    text,
    files: readdirSync(at),
    rows: lines.map((line): Row => JSON.parse(line)),
  };
}

describe('hansard export of training data', () => {
  it.each(formats)('writes %s for a task, with a manifest of what it is made of', async (format) => {
    const { manifest, text, rows, files, err, json } = await exportAs(format);
    const info = format === 'trl-chat' ? ['dataset_info.json'] : [];
    expect(files.sort()).toEqual([...info, 'manifest.json', manifest.file].sort());
    expect(rows.length).toBeGreaterThan(3);
    expect(manifest).toMatchObject({
      format,
      rows: rows.length,
      sha256: createHash('sha256').update(text).digest('hex'),
      refused: [{ dispatchId: 'N3', reason: 'narrative' }],
      sources: [{ dispatchId: 'D1' }, { dispatchId: 'D2' }],
    });
    expect(manifest.calls).toMatchObject({ rendered: 0, recorded: manifest.calls.inRows });
    expect(json()).toMatchObject([{ format, rows: rows.length, sha256: manifest.sha256 }]);
    expect(err).toContain(`${rows.length} rows of ${manifest.calls.inRows} model calls`);
    expect(err).toContain('1 dispatches refused');
    for (const [reason, { count }] of Object.entries(manifest.dropped))
      expect(err).toContain(`${count} calls omitted from ${format}: ${reason}`);
  });

  it.each([
    ['D1', 'a café of four agents who hear each other'],
    ['D2', 'a reader whose memory fades'],
  ])('has in its prompts exactly what the models of %s were given: %s', async (dispatchId) => {
    const { rows, manifest } = await exportAs('trl', dispatchId);
    const wanted = (given[dispatchId] ?? []).map(({ messages }) => JSON.stringify(messages.map(asTrl)));
    expect(rows.map(({ prompt }) => JSON.stringify(prompt)).sort()).toEqual(wanted.sort());
    expect(wanted.length).toBeGreaterThan(7);
    expect(manifest.calls.shortened > 0).toBe(dispatchId === 'D2');
  });

  it('trains a line that several heard in the rows of its speaker alone', async () => {
    const line = 'Then you must come every day.';
    const { rows } = await exportAs('openai', 'D1');
    const as = (role: string) =>
      rows.filter(({ messages }) =>
        messages.some((message: Row) => message.role === role && message.content?.includes(line)),
      );
    expect(as('assistant')).toHaveLength(1);
    expect(as('assistant')[0]?.messages[0].content).toContain('You are Jack.');
    expect([...as('user'), ...as('tool')].length).toBeGreaterThan(1);
  });

  it('trains only the agents that --agent names, and reports unknown ones', async () => {
    const { rows, manifest, err } = await exportAs('trl', 'D1', '--agent', 'Jill', '--agent', 'Zoe');
    const names = new Set(rows.map(({ metadata }) => metadata.agent_name));
    expect([...names]).toEqual(['Jill']);
    expect(rows).toHaveLength((given.D1 ?? []).filter(({ agentName }) => agentName === 'Jill').length);
    expect(manifest).toMatchObject({ filter: { agents: ['Jill', 'Zoe'] }, missingAgents: ['Zoe'] });
    expect(err).toContain('Unknown agent: "Zoe".');
  });

  it('writes thoughts as --thoughts says', async () => {
    const thoughtOf = async (...more: string[]) =>
      (await exportAs('trl', 'D2', ...more)).rows[0]?.completion[0];
    expect(JSON.stringify(await thoughtOf())).not.toContain('Slowly.');
    expect((await thoughtOf('--thoughts', 'think-tags')).content).toContain(
      '<think>\nSlowly.\n</think>\nTea',
    );
    expect(await thoughtOf('--thoughts', 'reasoning_content')).toMatchObject({
      reasoning_content: 'Slowly.',
    });
    expect((await exportAs('sft', 'D2')).rows[0]?.completion).toContain(
      '<thinking>\nSlowly.\n</thinking>\nTea',
    );
  });

  it('puts the tools of --tools into each row', async () => {
    const tools = [{ type: 'function', function: { name: 'task', parameters: { type: 'object' } } }];
    writeFileSync(join(cli.cwd, 'tools.json'), JSON.stringify(tools));
    const { rows } = await exportAs('openai', '--tools', 'tools.json');
    for (const row of rows) expect(row.tools).toEqual(tools);
  });

  it.each([
    [
      'thoughts in a key that OpenAI does not have',
      'openai',
      ['--thoughts', 'thinking'],
      2,
      "openai can't write thoughts as",
    ],
    ['thoughts of the format that always has them', 'sft', ['--thoughts', 'drop'], 2, 'remove --thoughts'],
    ['tools that are not there', 'trl', ['--tools', 'nowhere.json'], 1, 'nowhere.json'],
    ['tools that are no list', 'trl', ['--tools', 'object.json'], 1, 'not a JSON array'],
    ['no folder', 'trl', [], 2, '--out FOLDER'],
  ] as const)('says what to do about %s, and writes nothing', async (_, format, more, code, words) => {
    writeFileSync(join(cli.cwd, 'object.json'), '{}');
    const out = more.length === 0 ? [] : ['--out', 'refused'];
    const answer = await cli.hansard('export', 'scenes/cafe', '--as', format, ...more, ...out);
    expect(answer).toMatchObject({ code, out: '', err: expect.stringContaining(words) });
    expect(existsSync(join(cli.cwd, 'refused'))).toBe(false);
  });

  it.each(formats)('refuses to make %s of narratives, names them, and writes nothing', async (format) => {
    const answer = await cli.hansard('export', 'scenes/narrative', '--as', format, '--out', 'refused');
    expect(answer.code).toBe(1);
    expect(answer.err).toContain('FORMAT_NOT_FULL: No training data can be written from N1, N2');
    expect(answer.err).toContain('fidelity narrative');
    expect(existsSync(join(cli.cwd, 'refused'))).toBe(false);
  });

  it('prints the estimate of its size first, and refuses to write more than --max-bytes', async () => {
    const { text, json, err } = await exportAs('sft', '--max-bytes', '1TB');
    const bytes = Buffer.byteLength(text);
    const calls = Object.values(given).flat().length;
    expect(json()).toMatchObject([{ bytes, estimate: { bytes, calls: { of: calls } } }]);
    expect(err).toMatch(
      /^hansard: about \d+(\.\d)?KB and \d+ tokens in \d+ rows, from \d+ of \d+ model calls/,
    );
    const refused = (limit: string) =>
      cli.hansard('export', 'scenes/cafe', '--as', 'sft', '--out', 'refused', '--max-bytes', limit);
    expect(await refused(`${bytes - 1}B`)).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        new RegExp(`FORMAT_TOO_LARGE: The sft data would have about ${bytes} bytes[^]*--max-bytes 10GB`),
      ),
    });
    expect(await refused('5')).toMatchObject({ code: 2, err: expect.stringContaining('500MB') });
    expect(existsSync(join(cli.cwd, 'refused'))).toBe(false);
  });

  it('never writes into an existing folder', async () => {
    mkdirSync(join(cli.cwd, 'mine'));
    const { code, err } = await cli.hansard('export', 'scenes/cafe', '--as', 'trl', '--out', 'mine');
    expect([code, readdirSync(join(cli.cwd, 'mine'))]).toEqual([1, []]);
    expect(err).toContain("mine can't be written");
  });
});

/** A message as TRL documents it. */
function asTrl(message: ModelMessage) {
  if (message.role === 'tool') return { role: 'tool', name: message.tool, content: message.text };
  if (message.role !== 'assistant') return { role: message.role, content: message.text };
  const calls = message.toolCalls.map(({ tool, input }) => ({
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(input) },
  }));
  return {
    role: 'assistant',
    content: message.text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}
