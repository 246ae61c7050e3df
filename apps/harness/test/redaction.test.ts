import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { type NewEvent, newEvent } from '@hansard/events';
import type { LanguageModelProvider } from '@hansard/provider';
import { createRedactor } from '@hansard/redaction';
import { openSession } from '@hansard/session';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { foundIn, type SecretCanary, sampleEventOfEachType, secretCanaries } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';
import { put, uuid } from './import-files.ts';

const seed = 2_415;

function configure(line: CommandLine, redact: unknown): void {
  writeFileSync(join(line.cwd, 'hansard.config.json'), JSON.stringify({ redact }));
}

/** A line of a transcript. */
function prompt(number: number, content: string): string {
  const timestamp = new Date(Date.parse('2026-03-01T09:30:00.000Z') + number * 1_000).toISOString();
  const fields = { type: 'user', parentUuid: null, isSidechain: false, cwd: '/w', sessionId: 's' };
  return `${JSON.stringify({ ...fields, message: { role: 'user', content }, uuid: uuid(number), timestamp })}\n`;
}

function textIn(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
}

const storedIn = (line: CommandLine) => textIn(join(line.cwd, '.projects'));

describe('an import', () => {
  it('records no secret of a known format, without a configuration', async () => {
    using line = commandLine();
    const canaries = secretCanaries(seed).all();
    const transcript = canaries.map(({ text }, index) => prompt(index, text)).join('');
    const path = put(line, 's.jsonl', transcript);
    const answer = await line.hansard('import', path, '--task', 'a/b', '--json');
    expect(answer.json()).toMatchObject([{ events: canaries.length }]);
    expect(foundIn(storedIn(line), canaries)).toEqual([]);
    const events = (await line.hansard('show', 'a/b/latest', '--raw', '--json')).json();
    const counted = events.filter((row) => /"redactions":\{"[a-z0-9-]+":1\}/.test(JSON.stringify(row)));
    expect(counted).toHaveLength(canaries.length);
  });

  it('records everything with "redact": false', async () => {
    using line = commandLine();
    configure(line, false);
    const canaries = secretCanaries(seed).all();
    const path = put(line, 's.jsonl', canaries.map(({ text }, index) => prompt(index, text)).join(''));
    await line.hansard('import', path, '--task', 'a/b');
    expect(foundIn(storedIn(line), canaries)).toEqual(canaries);
  });

  it('replaces values of variables and own patterns, which scan-secrets finds in what was recorded before', async () => {
    using line = commandLine();
    const path = put(line, 's.jsonl', prompt(1, 'acme_1234 opens sesame-door'));
    configure(line, false);
    await line.hansard('import', path, '--task', 'a/before');
    configure(line, { environment: ['DOOR'], patterns: { acme: 'acme_[0-9]{4}' } });
    const start = { signal: new AbortController().signal, env: { DOOR: 'sesame-door' } };
    await line.start(['import', path, '--task', 'a/after'], start);
    const shown = await line.hansard('show', 'a/after/latest');
    expect(shown.out).toContain('[REDACTED:acme] opens [REDACTED:env-DOOR]');
    const scan = await line.start(['secrets', 'scan'], start);
    expect(scan.code).toBe(4);
    expect(scan.out).toContain('(2 acme, 2 env-DOOR)');
    expect(scan.out).not.toContain('a/after');
  });

  it('adds nothing again under newer patterns, and adds what is new', async () => {
    using line = commandLine();
    const text = prompt(1, 'acme_1234 and other_5678') + prompt(2, 'nothing') + prompt(3, 'other_9999');
    const path = put(line, 's.jsonl', text);
    const patterns = (kinds: string[]) => Object.fromEntries(kinds.map((kind) => [kind, `${kind}_[0-9]{4}`]));
    configure(line, { patterns: patterns(['acme']) });
    await line.hansard('import', path, '--task', 'a/b');
    configure(line, { patterns: patterns(['acme', 'other']) });
    writeFileSync(path, text + prompt(4, 'acme_1111 other_2222'));
    const answer = await line.hansard('import', path, '--task', 'a/b', '--reread', '--json');
    expect(answer.json()).toMatchObject([{ events: 4, added: 1, rewritten: 0 }]);
    expect(storedIn(line)).toContain('[REDACTED:acme] [REDACTED:other]');
  });
});

describe('the key "redact" of the configuration', () => {
  it.each([
    [{ pattern: { a: 'b' } }, 'Did you mean "patterns" instead of "pattern"?'],
    [{ environement: ['A'] }, 'Did you mean "environment" instead of "environement"?'],
    [{ formats: 'no' }, 'redact'],
    [true, 'redact'],
  ])('is refused if it is not valid: %j', async (redact, hint) => {
    using line = commandLine();
    configure(line, redact);
    const { code, err } = await line.hansard('ls');
    expect(code).toBe(2);
    expect(err).toContain(hint);
  });

  it('is refused before anything is recorded if a pattern is not valid, and its pattern is not quoted', async () => {
    using line = commandLine();
    configure(line, { patterns: { acme: '(?=acme_1234)' } });
    const { code, err } = await line.hansard('import', put(line, 's.jsonl', prompt(1, 'a')), '--task', 'a/b');
    expect(code).not.toBe(0);
    expect(err).toContain('"acme"');
    expect(err).not.toContain('1234');
  });
});

const mapping =
  'turn: { events: ["game:day"] }\ngameEvents: { events: ["game:*"] }\nchat: { tools: { speak: message } }\n';

/** A game in which everything that is said, thought and done has a canary; the log has them all. */
async function recordGame(line: CommandLine): Promise<SecretCanary[]> {
  const { any, plant } = secretCanaries(seed);
  const canaries: SecretCanary[] = [];
  const text = () => {
    const canary = any();
    canaries.push(canary);
    return canary.text;
  };
  const agentId = 'agent_001';
  const events: NewEvent[] = [newEvent('agent:created', { name: 'Ann' }, { agentId })];
  for (let turn = 1; turn <= 8; turn += 1) {
    const ann = { agentId, messageId: `m${turn}` };
    const input = { message: text(), note: { [text()]: text() } };
    const call = { toolCallId: `c${turn}`, tool: 'speak', metadata: {} };
    const usage = { inputTokens: 1, outputTokens: 1 };
    events.push(
      { type: 'game:day', data: { turn: `Day ${turn}`, said: text() } },
      newEvent('user:message', { text: text(), source: { kind: 'user' } }, { agentId }),
      newEvent('agent:thinking', { text: text() }, ann),
      newEvent('agent:tool_call', { ...call, target: text(), input }, ann),
      newEvent('agent:inference', { model: 'm', durationMs: 1, usage }, ann),
      newEvent('agent:tool_result', { ...call, status: 'completed', output: text() }, { agentId }),
      newEvent('agent:text', { text: text() }, { agentId, messageId: `t${turn}` }),
      newEvent('agent:inference', { model: 'm', durationMs: 1, usage }, { agentId, messageId: `t${turn}` }),
    );
  }
  for (const event of sampleEventOfEachType()) {
    if (/^(agent|user):/.test(event.type)) continue;
    const planted = plant({ ...event, agentId });
    events.push(planted.event);
    canaries.push(...planted.canaries);
    // The envelope has the origin, too.
    if (event.type === 'session:fork') canaries.push(...planted.canaries);
  }
  await using store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  const game = { role: 'game', fidelity: 'full', dispatchId: 'D1', title: text(), cwd: text() } as const;
  await using dispatch = await store.beginDispatch('lab/tasks/game', game);
  await dispatch.append(events);
  await dispatch.end({ status: 'completed', structuredResult: { said: text() } });
  return canaries;
}

const exportsOfGame: readonly (readonly [name: string, args: readonly string[]])[] = [
  ...['session-v1', 'session-v2', 'markdown', 'html', 'pages'].map(
    (id) => [id, ['export', 'lab/game', '--as', id]] as const,
  ),
  ['otlp', ['export', 'lab/game', '--as', 'otlp', '--content', 'spans', '--reasoning']],
  ['otlp log records', ['export', 'lab/game', '--as', 'otlp', '--content', 'events', '--reasoning']],
  ['streams', ['export', 'lab/game', '--as', 'streams', '--mapping', 'game.yaml']],
  ...['sft', 'trl', 'trl-chat', 'openai'].map((id) => [id, ['export', 'lab/game', '--as', id]] as const),
  ['packets', ['judge', 'pack', 'lab/game', '--mapping', 'game.yaml']],
];

describe('an export of a log that has secrets', () => {
  /** What an export writes and prints. */
  async function exported(line: CommandLine, args: readonly string[], out: string) {
    const answer = await line.hansard(...args, '--out', out, '--json');
    const path = join(line.cwd, out);
    const files = statSync(path).isDirectory() ? textIn(path) : readFileSync(path, 'utf8');
    return { ...answer, written: `${files}\n${answer.out}\n${answer.err}` };
  }

  it.each(exportsOfGame)('has none of them, and counts them: %s', async (_, args) => {
    using line = commandLine();
    writeFileSync(join(line.cwd, 'game.yaml'), mapping);
    const canaries = await recordGame(line);
    const { code, written, err, json } = await exported(line, args, 'redacted');
    expect(code, err).toBe(0);
    expect(foundIn(written, canaries)).toEqual([]);
    const [row] = json() as { redactions?: Record<string, number>; secrets?: Record<string, number> }[];
    const counts = row?.redactions ?? row?.secrets ?? {};
    const planted: Record<string, number> = {};
    for (const { kind } of canaries) planted[kind] = (planted[kind] ?? 0) + 1;
    expect(counts).toEqual(planted);
    expect(err).toContain('Secrets replaced in the export');
    // The same check finds them in an export that does not redact.
    configure(line, false);
    const plain = await exported(line, args, 'plain');
    expect(foundIn(plain.written, canaries).length).toBeGreaterThan(7);
    expect(plain.err).not.toContain('Secrets replaced');
  });
});

it('the context of a call is verified with redaction, and says that its hash is of the redacted text', async () => {
  using line = commandLine();
  const canaries = secretCanaries(seed).all();
  const received: string[] = [];
  const model: LanguageModelProvider = {
    contract: 1,
    async generate({ messages }) {
      received.push(JSON.stringify(messages));
      const text = `I heard ${canaries[received.length]?.text}`;
      return { text, toolCalls: [], model: 'm', usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
  await using store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }), {
    redact: createRedactor(),
  });
  const session = await openSession({ store, taskDir: 'lab/tasks/talk', role: 'host', model });
  for (let turn = 20; turn < 24; turn += 1) {
    await session.root.harken(canaries[turn]?.text ?? '');
    await session.root.response();
  }
  await session.complete('completed');
  expect(received).toHaveLength(4);
  expect(foundIn(received.join('') + storedIn(line), canaries)).toEqual([]);
  const verified = await line.hansard('context', 'lab/talk/latest', 'latest', '--verify');
  expect(verified).toMatchObject({ code: 0, out: expect.stringMatching(/^Identical: 7 messages, /) });
  expect(verified.err).toContain('The context has 7 markers of redaction. Its hash is of the redacted text');
});

it('the message of an error has no secret of a known format', async () => {
  using line = commandLine();
  for (const { text, needle } of secretCanaries(seed).all()) {
    const { code, err } = await line.hansard('show', `lab/${text}/latest`);
    expect(code).not.toBe(0);
    expect(err).not.toContain(needle);
  }
});
