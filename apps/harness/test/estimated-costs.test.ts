import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';
import { lines, put, uuid } from './import-files.ts';

const answer = (number: number, model: string) => ({
  type: 'assistant',
  message: {
    id: `msg_${number}`,
    role: 'assistant',
    model,
    content: [{ type: 'text', text: `Answer ${number}` }],
    usage: { input_tokens: 200_000, output_tokens: 0, cache_read_input_tokens: 100_000 },
  },
  uuid: uuid(number),
  parentUuid: number === 1 ? null : uuid(number - 1),
  isSidechain: false,
  cwd: '/home/ann/house',
  sessionId: 'session-1',
  timestamp: `2026-01-01T00:00:0${number}.000Z`,
});

const session = lines(
  ...['claude-opus-4-5', 'claude-fable-7', 'claude-opus-4-5'].map((model, at) => answer(at + 1, model)),
);

describe('the estimated cost of an imported session', () => {
  let line: CommandLine;
  beforeEach(() => {
    line = commandLine();
  });
  afterEach(() => line[Symbol.dispose]());

  const read = async (...args: string[]) => {
    const { code, out, err } = await line.hansard(...args);
    expect(code, err).toBe(0);
    return out;
  };

  it('is marked as an estimate in every listing and report, with the table and the model without a price', async () => {
    await read('import', put(line, 's.jsonl', session), '--task', 'lab/log');
    const outputs = await Promise.all([
      read('ls'),
      read('ls', 'lab/log'),
      read('tree', 'lab/log'),
      read('show', 'lab/log'),
      read('export', 'lab/log', '--as', 'markdown'),
      read('export', 'lab/log', '--as', 'html'),
    ]);
    for (const output of outputs) {
      expect(output).toMatch(/\u2248\$\d/);
      expect(output).toContain('genai-prices');
      expect(output).toContain('claude-fable-7');
      expect(output).not.toMatch(/[^\u2248]\$\d/);
    }
    const [listed] = JSON.parse(`[${(await read('ls', '--json')).trim()}]`);
    expect(listed).toMatchObject({ costUsd: null, unpriced: ['claude-fable-7'] });
    expect(listed.estimatedUsd).toBeGreaterThan(0);
  });

  it('comes from the price table of the configuration', async () => {
    const models = { 'claude-fable-7': { input: 10, output: 0 }, 'claude-opus-4-5': { input: 0, output: 0 } };
    put(line, 'prices.json', JSON.stringify({ name: 'house', version: '2', date: '2026-01-01', models }));
    put(line, 'hansard.config.json', JSON.stringify({ prices: './prices.json' }));
    await read('import', put(line, 's.jsonl', session), '--task', 'lab/log');
    expect(await read('tree', 'lab/log')).toContain('\u2248$3.00');
    expect(await read('show', 'lab/log')).toContain('estimated from house 2 (2026-01-01)');
  });

  it('is left out when the configuration says so', async () => {
    put(line, 'hansard.config.json', JSON.stringify({ prices: false }));
    await read('import', put(line, 's.jsonl', session), '--task', 'lab/log');
    expect(await read('tree', 'lab/log')).not.toContain('$');
  });

  it('is not made from a table that is wrong, and nothing is imported', async () => {
    put(line, 'prices.json', '{"name": "house"}');
    put(line, 'hansard.config.json', JSON.stringify({ prices: './prices.json' }));
    const { code, err } = await line.hansard('import', put(line, 's.jsonl', session), '--task', 'lab/log');
    expect(code).toBe(1);
    expect(err).toContain('prices.json is not a price table');
    expect((await line.hansard('ls')).out).toContain('No sessions yet');
  });
});
