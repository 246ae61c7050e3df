import { globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { newEvent } from '@hansard/events';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { appendEvents, createDispatch } from '@hansard/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CommandLine, commandLine } from './command-line.ts';

let cli: CommandLine;

beforeEach(async () => {
  cli = commandLine();
  const store = openDispatchStore(openJsonFileStore({ root: join(cli.cwd, '.projects') }));
  const { dispatchId } = await createDispatch(store, 'lab/tasks/talk', { role: 'host', fidelity: 'full' });
  const text = 'x'.repeat(1_000);
  await appendEvents(
    store,
    'lab/tasks/talk',
    dispatchId,
    Array.from({ length: 1_200 }, () => newEvent('agent:text', { text })),
  );
  await store.close();
});

afterEach(() => cli[Symbol.dispose]());

const html = ['export', 'lab/talk', '--as', 'html'];
const written = () => readdirSync(cli.cwd).filter((name) => name !== '.projects' && name !== 'game.yaml');

function damageLog(): void {
  const [file = ''] = globSync('.projects/lab/tasks/talk/dispatches/*.json', { cwd: cli.cwd });
  const path = join(cli.cwd, file);
  const lines = readFileSync(path, 'utf8').split('\n');
  lines[900] = '{"id": torn';
  writeFileSync(path, lines.join('\n'));
}

describe('an export that does not come to its end', () => {
  it('leaves no file that looks whole', async () => {
    damageLog();
    const { code } = await cli.hansard(...html, '--out', 'talk.html');
    expect([code, written()]).toEqual([3, []]);
  });

  it('leaves no folder', async () => {
    damageLog();
    writeFileSync(
      join(cli.cwd, 'game.yaml'),
      'turn: { events: ["game:day"] }\ngameEvents: { events: ["game:*"] }',
    );
    const { code } = await cli.hansard(
      ...['export', 'lab/talk', '--as', 'streams', '--mapping', 'game.yaml', '--out', 'streams'],
    );
    expect([code, written()]).toEqual([3, []]);
  });

  it('leaves nothing at Ctrl-C', async () => {
    const stop = new AbortController();
    stop.abort('Ctrl-C');
    const { code } = await cli.start([...html, '--out', 'talk.html'], { signal: stop.signal });
    expect([code, written()]).toEqual([1, []]);
  });

  it('is not an error if its reader goes away, as head does', async () => {
    expect(await cli.processUntilFirstOutput(...html)).toBe(0);
  });
});

describe('the place of an export', () => {
  it('is never one where something is, also an empty folder', async () => {
    mkdirSync(join(cli.cwd, 'talk.html'));
    const { code, err } = await cli.hansard(...html, '--out', 'talk.html');
    expect([code, err]).toEqual([1, expect.stringContaining('it already exists')]);
    expect(readdirSync(join(cli.cwd, 'talk.html'))).toEqual([]);
  });

  it('is not shared: what another export writes is left alone, and named', async () => {
    writeFileSync(join(cli.cwd, 'talk.html.part'), 'half');
    const { code, err } = await cli.hansard(...html, '--out', 'talk.html');
    expect([code, err]).toEqual([1, expect.stringMatching(/talk\.html\.part exists\.\n.*remove that file/)]);
    expect(readFileSync(join(cli.cwd, 'talk.html.part'), 'utf8')).toBe('half');
  });

  it('is named as it was given where its folder does not exist', async () => {
    const { code, err } = await cli.hansard(...html, '--out', 'none/talk.html');
    expect([code, err]).toEqual([1, expect.stringContaining("none/talk.html can't be written: ENOENT")]);
  });

  it('holds the whole export when the command is done, and says so to programs', async () => {
    const { code, json } = await cli.hansard(...html, '--out', 'talk.html', '--json');
    expect([code, json()]).toEqual([
      0,
      [{ format: 'html', path: join(cli.cwd, 'talk.html'), dispatches: 1, leftOut: {}, redactions: {} }],
    ]);
    expect(written()).toEqual(['talk.html']);
    expect(readFileSync(join(cli.cwd, 'talk.html'), 'utf8')).toMatch(/<\/html>\n$/);
  });
});

describe('a task without dispatches', () => {
  it('is named as it was given', async () => {
    const { code, err } = await cli.hansard('export', 'lab/none', '--as', 'html');
    expect([code, err]).toEqual([1, expect.stringContaining('There is no session or task "lab/none".')]);
  });
});

describe('an option of another format', () => {
  it('is refused, and nothing is written', async () => {
    const { code, err } = await cli.hansard(
      ...['export', 'lab/talk', '--as', 'html', '--out', 'a.html', '--agent', 'jack'],
    );
    expect([code, err]).toEqual([2, expect.stringContaining('--agent does not apply to html.')]);
    expect(readdirSync(cli.cwd)).not.toContain('a.html');
  });
});
