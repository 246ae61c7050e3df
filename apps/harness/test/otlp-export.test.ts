import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openDispatchStore } from '@hansard/dispatch';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { expect, it } from 'vitest';
import { commandLine, demoStream } from './command-line.ts';

async function recorded() {
  const line = commandLine();
  const run = await line.hansard(
    'run',
    demoStream('tools-and-thinking'),
    '--task',
    'research/cafe',
    '--quiet',
  );
  expect(run.code).toBe(0);
  return line;
}

it('writes a task as OTLP/JSON lines, the same at the second time, without what anybody said', async () => {
  using line = await recorded();
  const first = await line.hansard('export', 'research/cafe', '--as', 'otlp', '--out', 'traces.jsonl');
  expect(first).toMatchObject({ code: 0, out: expect.stringMatching(/^otlp: /) });
  const file = readFileSync(join(line.cwd, 'traces.jsonl'), 'utf8');
  const names = file.match(/"name":"(invoke_agent|chat|execute_tool) /g) ?? [];
  expect(names.length).toBeGreaterThan(3);
  expect(file).not.toContain('gen_ai.output.messages');

  const second = await line.hansard('export', 'research/cafe', '--as', 'otlp');
  expect(second.out).toBe(file);
  const full = await line.hansard('export', 'research/cafe', '--as', 'otlp', '--content', 'spans');
  expect(full.out).toContain('gen_ai.output.messages');
});

it('has data of types of your own with --data-of, and without it only with --reasoning', async () => {
  using line = await recorded();
  await using store = openDispatchStore(openJsonFileStore({ root: join(line.cwd, '.projects') }));
  await using dispatch = await store.beginDispatch('research/tasks/cafe', { role: 'game' });
  await dispatch.append({ type: 'game:vote', data: { target: 'the fox' } });
  await dispatch.end({ status: 'completed' });
  const has = async (...options: string[]) => {
    const { code, out } = await line.hansard('export', 'research/cafe', '--as', 'otlp', ...options);
    expect(code).toBe(0);
    return out.includes('the fox');
  };
  expect([
    await has('--content', 'events'),
    await has('--data-of', 'game:*'),
    await has('--content', 'events', '--data-of', 'village:*'),
    await has('--content', 'events', '--data-of', 'village:*, game:*'),
    await has('--content', 'events', '--reasoning'),
  ]).toEqual([false, false, false, true, true]);
});

it('sends a task to a receiver, and says what that answered', async () => {
  using line = await recorded();
  let status = 200;
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    request.resume().on('end', () => response.writeHead(status).end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const sent = await line.hansard('export', 'research/cafe', '--as', 'otlp', '--endpoint', endpoint);
    expect(sent).toMatchObject({ code: 0, out: '' });
    expect(sent.err).toMatch(/\d+ spans and \d+ log records sent to http/);
    expect(paths.splice(0).sort()).toEqual(['/v1/logs', '/v1/traces']);
    const login = endpoint.replace('//', '//ann:hunter2@');
    for (const options of [[], ['--json']]) {
      const quiet = await line.hansard(
        'export',
        'research/cafe',
        '--as',
        'otlp',
        '--endpoint',
        login,
        ...options,
      );
      expect([quiet.code, quiet.out + quiet.err]).toEqual([0, expect.not.stringContaining('hunter2')]);
      expect(quiet.out + quiet.err).toContain('(hidden)@127.0.0.1');
    }
    status = 401;
    const refused = await line.hansard('export', 'research/cafe', '--as', 'otlp', '--endpoint', endpoint);
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/TRACE_RECEIVER_FAILED.*401/);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
