import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

/** Transcripts that were made after public reports of faults of similar tools. */
const reports = join(import.meta.dirname, 'fixtures', 'field-reports');

/** What a command prints after the import of a report. */
async function answerOf(report: string, ...command: string[]): Promise<{ out: string; err: string }> {
  using shell = commandLine();
  const imported = await shell.hansard('import', join(reports, report, 'p'));
  expect([imported.code, imported.err]).toEqual([0, '']);
  const { code, out, err } = await shell.hansard(...command);
  expect(code).toBe(0);
  return { out, err };
}

describe('projects', () => {
  it('are distinguished by the folders that sessions worked in (c07)', async () => {
    const { out } = await answerOf('c07', 'usage', '--by', 'project', '--json');
    const rows = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { key: string | null });
    expect(rows.map(({ key }) => key)).toEqual([
      '/srv/data-analysis',
      '/srv/data/analysis',
      '/srv/個人',
      '/srv/外注',
      'C:\\Work\\Mein Projekt',
      '\\\\wsl$\\Ubuntu\\home\\ada\\it',
      null,
    ]);
    const { out: listed } = await answerOf('c07', 'ls', '--project', '個人');
    expect(listed).toContain('diary of B');
    expect(listed).not.toContain('secret of customer A');
  });
});

describe('whose words', () => {
  it('a teammate says are the words of the teammate (c62)', async () => {
    const { out } = await answerOf('c62', 'dialog', 'latest');
    expect(out).toContain(
      '4  dispatched agent: Count the owls\n      sent to alice\n   6  alice: There are seven owls.\n',
    );
    const users = out.match(/^ *\d+ {2}user: .*$/gm);
    expect(users?.map((line) => line.trim())).toEqual([
      '0  user: Start the team.',
      '9  user: ! ls -la',
      '11  user: /cost',
      '15  user: What next?',
    ]);
  });
});

/** The agents below the sessions of a tree. */
function agentLines(out: string): string[] {
  const lines = out.split('\n').map((line) => line.trimEnd());
  return lines.slice(lines.findIndex((line) => line.startsWith('Agents of ')) + 1);
}

describe('the sub-agents of a session', () => {
  it('are linked to their calls by the files beside them, if the session was killed before their results (c50)', async () => {
    const { out, err } = await answerOf('c50', 'tree', 'latest');
    expect(agentLines(out)).toEqual([
      'dispatched agent       claude-sonnet-4-5-20250929  2 messages',
      '├─ Explore        aa1  claude-sonnet-4-5-20250929  2 messages',
      '└─ Explore        bb2  claude-sonnet-4-5-20250929  2 messages',
      '   └─ Explore     cc3  claude-sonnet-4-5-20250929  2 messages  depth 2',
      '',
    ]);
    expect(err).toBe('hansard: 3 agents are named Explore: aa1, bb2, cc3.\n');
    const whole = await answerOf('c50', 'tree', 'latest', '--json');
    expect(whole.out.match(/"tool_use_id":"\w+"/g)).toEqual([
      '"tool_use_id":"toolu_A"',
      '"tool_use_id":"toolu_B"',
      '"tool_use_id":"toolu_C"',
    ]);
  });

  it('of a workflow are below the agent that called it, and created before their first word (c10)', async () => {
    const { out, err } = await answerOf('c10', 'tree', 'latest');
    expect(agentLines(out)).toEqual([
      'dispatched agent      claude-sonnet-4-5-20250929  4 messages',
      '└─ auditor        w1  claude-haiku-4-5-20251001   2 messages',
      '',
    ]);
    expect(err).toBe('');
  });
});

describe('the title of a session', () => {
  it('is neither markup nor a slash command without arguments (c15)', async () => {
    const { out } = await answerOf('c15', 'ls');
    expect(out).toContain('The real question about owls');
    expect(out).toContain('Second name');
    expect(out).not.toMatch(/<|command|clear/);
  });
});

// biome-ignore lint/suspicious/noExplicitAny: packages/datasets checks rows by schemas; here they are read as JSON.
type Row = Record<string, any>;

/** The rows of `export latest` after an import, and what is said to be left out. */
async function rowsOf(shell: CommandLine, path: string, format: string) {
  const imported = await shell.hansard('import', path);
  expect([imported.code, imported.err]).toEqual([0, '']);
  const { code, err } = await shell.hansard('export', 'latest', '--as', format, '--out', 'data');
  expect(code).toBe(0);
  const read = (file: string) => readFileSync(join(shell.cwd, 'data', file), 'utf8');
  const { file, dropped, images, named } = JSON.parse(read('manifest.json'));
  const text = read(file);
  const rows = text.split('\n').flatMap((line): Row[] => (line === '' ? [] : [JSON.parse(line)]));
  return { rows, text, dropped, images, named, err };
}

describe('training data of a session', () => {
  const formats = ['sft', 'trl', 'trl-chat', 'openai'];

  it.each(formats)('shows an image in %s, or names and counts it (c44)', async (format) => {
    using shell = commandLine();
    const { rows, images, named, dropped, err } = await rowsOf(shell, join(reports, 'c44', 'p'), format);
    const isShown = ['trl', 'trl-chat', 'openai'].includes(format);
    expect([rows.length, dropped, images]).toEqual([1, {}, isShown ? 1 : 0]);
    expect(named).toEqual({ ...(isShown ? {} : { 'image/png': 1 }), 'application/pdf': 1 });
    expect(err).toContain(`hansard: 1 files only named in ${format}: application/pdf.`);
    const row = JSON.stringify(rows[0]);
    expect(row).toContain('[image/png 70 bytes, sha256 6b7fa434…]');
    expect(row.includes(';base64,')).toBe(isShown);
  });

  it('has one type for all arguments, and no image as text (c14)', async () => {
    for (const format of formats) {
      using shell = commandLine();
      const { rows, text, named } = await rowsOf(shell, join(reports, 'c14', 'p'), format);
      expect(named).toEqual({ 'image/png': 1 });
      expect(text).not.toContain('iVBORw0KGgo');
      if (format !== 'trl') continue;
      const calls = rows.flatMap(({ completion }) => completion[0].tool_calls ?? []);
      expect(calls.map((call) => call.function.arguments)).toEqual([
        '{"time":"2026-01-01","n":1,"opt":null,"tags":["a"]}',
        '{"time":1767225600,"n":"two","opt":"x","tags":{"k":1}}',
      ]);
    }
  });

  it('has the result of a web search after its call, before the text that it led to', async () => {
    using shell = commandLine();
    const { rows, dropped } = await rowsOf(shell, writeSearch(shell.cwd), 'openai');
    expect(dropped).toEqual({});
    expect(rows[0]?.messages.map(({ role, content }: Row) => [role, content])).toEqual([
      ['user', 'What is rye?'],
      ['assistant', 'Let me see.'],
      ['tool', expect.stringContaining('"encrypted_content":"[12 bytes]"')],
      ['assistant', 'It is a grain.'],
    ]);
  });
});

/** A session whose model searches the web within one message, as Claude Code writes it: a record for each block. */
function writeSearch(cwd: string): string {
  const sessionId = 'c2200000-1111-4111-8111-111111111111';
  const uuid = (number: number) => `c2200000-0000-4000-8000-00000000000${number}`;
  const result = { type: 'web_search_result', title: 'Rye', encrypted_content: 'Q0FOQVJZMTIzNDU2' };
  const blocks = [
    { type: 'text', text: 'Let me see.' },
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'rye' } },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [result] },
    { type: 'text', text: 'It is a grain.' },
  ];
  const answers = blocks.map((block, at) => ({
    type: 'assistant',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5-20250929',
      content: [block],
      stop_reason: at === blocks.length - 1 ? 'end_turn' : null,
      usage: { input_tokens: 10, output_tokens: 5 },
    },
  }));
  const records = [{ type: 'user', message: { role: 'user', content: 'What is rye?' } }, ...answers];
  const lines = records.map((record, at) =>
    JSON.stringify({
      parentUuid: at === 0 ? null : uuid(at),
      isSidechain: false,
      userType: 'external',
      cwd: '/srv/shop',
      sessionId,
      version: '2.1.260',
      uuid: uuid(at + 1),
      timestamp: `2026-11-20T10:00:0${at}.000Z`,
      ...record,
    }),
  );
  const folder = join(cwd, 'p', '-srv-shop');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${sessionId}.jsonl`), `${lines.join('\n')}\n`);
  return 'p';
}

describe('a project that is a link to another place', () => {
  it('is named with the remedy, and imported if the user names it (c61)', async () => {
    using shell = commandLine();
    cpSync(join(reports, 'c61'), shell.cwd, { recursive: true });
    const target = join(shell.cwd, 'elsewhere', '-srv-moved');
    const link = join(shell.cwd, 'p', '-srv-moved');
    symlinkSync(target, link);
    const all = await shell.hansard('import', 'p');
    expect(all.code).toBe(1);
    expect(all.out.match(/claude-transcript/g)).toHaveLength(1);
    expect(all.err).toContain(`IMPORT_LINK_OUTSIDE: ${link} is a link to ${target}, outside of `);
    expect(all.err).toContain('import that place by its own path');
    const named = await shell.hansard('import', join('p', '-srv-moved'));
    expect([named.code, named.err]).toEqual([0, '']);
    expect(named.out).toContain('c6100000-1111-4111-8111-111111111111');
  });
});
