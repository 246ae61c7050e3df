import { writeFileSync } from 'node:fs';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { Client, type QueryResult } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CommandLine, commandLine, demoStream } from './command-line.ts';

const server = useServer();
const password = 'correct-horse-battery';

function configured(config: object): CommandLine {
  const line = commandLine();
  onTestFinished(() => line[Symbol.dispose]());
  const store = { plugin: '@hansard/store-postgres', config };
  writeFileSync(`${line.cwd}/hansard.config.json`, JSON.stringify({ communication: [], store }));
  return line;
}

async function sql(user: string, text: string): Promise<QueryResult> {
  const client = new Client(server().url(user));
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

describe('hansard plugins', () => {
  it('shows the server of the store, its version and its latency, and no password', async () => {
    const line = configured({ url: server().url('postgres', password), schema: 'shown' });
    const { code, out } = await line.hansard('plugins');
    expect(code).toBe(0);
    const place = `127.0.0.1:${server().port}/postgres, schema shown`;
    expect(out).toMatch(new RegExp(`server ${place}: PostgreSQL \\d+\\.\\d+, answered in \\d+\\.\\d ms`));
    const json = await line.hansard('plugins', '--json');
    expect(json.json()).toMatchObject([
      {
        plugins: [
          {
            id: 'store-postgres',
            state: 'loaded',
            server: {
              name: place,
              version: expect.stringMatching(/^PostgreSQL/),
              latencyMs: expect.any(Number),
            },
          },
        ],
      },
    ]);
    expect(out + json.out).not.toContain(password);
  });

  it('shows a server that is away in its row, and does not fail', async () => {
    const line = configured({ url: `postgresql://u:${password}@127.0.0.1:1/agents` });
    const { code, out, err } = await line.hansard('plugins');
    expect(code).toBe(0);
    expect(out).toMatch(/failed store-postgres[\s\S]*127\.0\.0\.1:1\/agents cannot be reached/);
    expect(out + err).not.toContain(password);
  });

  it('fails with a store that a repetition cannot open', async () => {
    const line = configured({ url: `${server().url()}_missing` });
    const { code, out } = await line.hansard('plugins');
    expect(code).toBe(1);
    expect(out).toMatch(/postgres_missing does not exist\. Create it/);
  });

  it('shows no server for a store of files', async () => {
    using line = commandLine();
    expect((await line.hansard('plugins', '--json')).out).not.toContain('"server"');
  });
});

describe('hansard store setup', () => {
  it('prints SQL whose writer records but changes no event, whose reader only reads, and whose owner does both', async () => {
    await sql(
      'postgres',
      'CREATE ROLE "the owner" LOGIN; CREATE ROLE writer LOGIN; CREATE ROLE reader LOGIN; GRANT CREATE ON DATABASE postgres TO "the owner"',
    );
    const owner = configured({ url: server().url('the owner'), schema: 'agents' });
    const printed = await owner.hansard(
      'store',
      'setup',
      '--owner',
      'the owner',
      '--writer',
      'writer',
      '--reader',
      'reader',
    );
    expect(printed).toMatchObject({ code: 0, err: '' });
    await sql('postgres', printed.out);

    const as = (user: string) =>
      configured({ url: server().url(user), schema: 'agents', createTables: false });
    const [writer, reader] = [as('writer'), as('reader')];
    const run = ['run', demoStream('hook-deny'), '--task', 'a/b', '--quiet'];
    expect(await writer.hansard(...run)).toMatchObject({ code: 0 });
    const shown = await writer.hansard('show', 'a/b/latest', '--raw');
    expect(shown.out).toContain('deleting is not allowed here');
    expect(await reader.hansard('show', 'a/b/latest', '--raw')).toMatchObject({ code: 0, out: shown.out });
    expect(await reader.hansard(...run)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/does not allow this to the user\. .*Grant the rights/),
    });

    const forbidden = {
      writer: [
        "UPDATE agents.events SET line = ''",
        'DELETE FROM agents.events',
        'TRUNCATE agents.events',
        'DROP TABLE agents.events',
        'ALTER TABLE agents.events ADD COLUMN extra text',
        'DELETE FROM agents.dispatches',
        'DELETE FROM agents.tasks',
        'INSERT INTO agents.accepted_losses SELECT * FROM agents.accepted_losses',
        'UPDATE agents.meta SET version = 2',
      ],
      reader: [
        'INSERT INTO agents.events SELECT * FROM agents.events',
        "UPDATE agents.dispatches SET status = 'completed'",
        "UPDATE agents.events SET line = ''",
        'DELETE FROM agents.openings',
        'CREATE TABLE agents.mine (a text)',
      ],
    } as const;
    for (const [user, statements] of Object.entries(forbidden))
      for (const text of statements)
        await expect(sql(user, text), `${user}: ${text}`).rejects.toMatchObject({ code: '42501' });
    expect((await sql('the owner', 'DELETE FROM agents.events')).rowCount).toBeGreaterThan(5);
  });

  it('connects to nothing, and has the same text as JSON', async () => {
    const line = configured({ url: 'postgresql://127.0.0.1:1/agents' });
    const { out } = await line.hansard('store', 'setup', '--reader', 'r"; DROP');
    expect(out).toContain('TO "r""; DROP";');
    expect((await line.hansard('store', 'setup', '--reader', 'r"; DROP', '--json')).json()).toEqual([
      { plugin: 'store-postgres', setup: out },
    ]);
  });

  it('refuses a name that no role can have', async () => {
    const line = configured({});
    expect(await line.hansard('store', 'setup', '--writer', '')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/name of a role must have 1 to 63 bytes/),
    });
  });

  it('says that a store of files needs none', async () => {
    using line = commandLine();
    expect(await line.hansard('store', 'setup')).toMatchObject({
      code: 0,
      out: '-- store-jsonfile has no server, and needs no set-up.\n',
    });
  });
});
