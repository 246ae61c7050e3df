import { describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';
import { put } from './import-files.ts';

const entry = `
  const event = (text, at) => ({
    id: 'line-' + (at + 1), type: 'agent:text', timestamp: '1970-01-01T00:00:00.000Z', data: { text },
  });
  const diary = {
    contract: 1,
    id: 'diary',
    title: 'a diary',
    detect: ({ text }) => text.startsWith('Dear diary'),
    open: async ({ files }) => {
      const { readFileSync } = await import('node:fs');
      const events = readFileSync(files[0], 'utf8').trimEnd().split('\\n').map(event);
      return [{
        format: 'diary', files, dispatchId: '01JNTEST000000000000000000', startedAt: 0,
        async *read() { yield events; },
        summary: () => ({
          records: events.length, events: events.length, status: 'completed', completedAt: 0, diagnostics: [], counts: {},
          balance: { records: { in: events.length, recorded: events.length, leftOut: {} }, bytes: { in: 0, recorded: 0, leftOut: {} }, files: { in: 1, recorded: 1, leftOut: {} } },
        }),
      }];
    },
  };
  export default { id: 'diary', provides: 'LogImporterProvider', apiVersion: 1, create: () => diary };`;

function withDiaryPlugin(): CommandLine {
  const cli = commandLine();
  const manifest = { id: 'diary', provides: 'LogImporterProvider', entry: './index.js', apiVersion: 1 };
  put(cli, 'diary-plugin/plugin.json', JSON.stringify(manifest));
  put(cli, 'diary-plugin/package.json', JSON.stringify({ name: 'diary', version: '1.0.0', type: 'module' }));
  put(cli, 'diary-plugin/index.js', entry);
  put(cli, 'hansard.config.json', JSON.stringify({ plugins: ['./diary-plugin'] }));
  return cli;
}

describe('an importer of a plugin folder', () => {
  it.each([[[]], [['--as', 'diary']]])('imports the logs of its format, once, with %j', async (options) => {
    using cli = withDiaryPlugin();
    const path = put(cli, 'd.jsonl', 'Dear diary\nIt rains.\n');
    const imported = (...more: string[]) =>
      cli.hansard('import', path, '--task', 'lab/diary', '--json', ...options, ...more);
    expect(await imported()).toMatchObject({ code: 0, err: '' });
    expect((await imported()).json()).toMatchObject([{ format: 'diary', added: 0, unchanged: true }]);
    expect((await imported('--reread')).json()).toMatchObject([{ format: 'diary', events: 2, added: 0 }]);
  });

  it('is named where a format is unknown', async () => {
    using cli = withDiaryPlugin();
    const path = put(cli, 'd.jsonl', 'x');
    const { code, err } = await cli.hansard('import', path, '--as', 'letter');
    expect([code, err]).toEqual([2, expect.stringContaining('werewolf-match, diary')]);
  });
});
