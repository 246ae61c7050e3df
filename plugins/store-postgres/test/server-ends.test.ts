import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { expect, it, vi } from 'vitest';

it('the server of a test ends when the test process is killed', async () => {
  const child = spawn(process.execPath, [
    '--conditions=@hansard/source',
    join(import.meta.dirname, 'processes/start-server.ts'),
  ]);
  let url = '';
  for await (const line of createInterface({ input: child.stdout })) {
    url = line;
    break;
  }
  const client = new Client(url);
  await client.connect();
  const ended = new Promise<void>((resolve) => client.on('error', () => resolve()));
  child.kill('SIGKILL');
  await ended;
  // It ends its clients first, and then itself.
  const isAway = () => expect(new Client(url).connect()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await vi.waitFor(isAway, { timeout: 30_000 });
});
