import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { useServer } from '@hansard/testing/postgres-in-tests';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { documentedCode } from '../../../scripts/markdown-code.ts';
import { type Answer, type CommandLine, commandLine, demoStream } from './command-line.ts';

const server = useServer();
const scenario = fileURLToPath(new URL('../demo/cafe.yaml', import.meta.url));

const configurations = {
  files: '{ "communication": [] }',
  PostgreSQL: '{ "communication": [], "store": "@hansard/store-postgres" }',
} as const;

type StoreName = keyof typeof configurations;

/** What was printed by each command that records, and the names that later commands need. */
interface Recorded {
  readonly line: CommandLine;
  readonly answers: readonly Answer[];
  /** The tasks of the demonstration. */
  readonly tour: string;
  readonly cafe: string;
  /** The ids of all dispatches, which some views shorten. */
  readonly ids: readonly string[];
  /** An utterance of the last agent that spoke in the session. */
  readonly said: string;
}

const recorded: Partial<Record<StoreName, Recorded>> = {};

beforeAll(async () => {
  vi.stubEnv('HANSARD_POSTGRES_URL', server().url());
  for (const name of ['files', 'PostgreSQL'] as const) recorded[name] = await record(name);
}, 240_000);

afterAll(() => {
  vi.unstubAllEnvs();
  for (const { line } of Object.values(recorded)) line[Symbol.dispose]();
});

async function record(name: StoreName): Promise<Recorded> {
  const line = commandLine();
  writeFileSync(`${line.cwd}/hansard.config.json`, configurations[name]);
  const stream = demoStream('subagent');
  const answers = [
    await line.hansard('demo', '--delay', '0'),
    await line.hansard('chat', scenario, '--task', 'chat/cafe'),
    await line.hansard('import', stream, '--task', 'logs/imported'),
    await line.hansard('import', stream, '--task', 'logs/imported', '--reread'),
  ];
  const { out } = await line.hansard('ls', '--tasks');
  const named = (start: string) => out.split(/\s+/).find((word) => word.startsWith(start)) ?? '';
  const tour = named('demo/tour');
  const dispatches = (await line.hansard('ls', '--json')).json() as { dispatchId: string }[];
  const texts = await line.hansard('show', 'chat/cafe/latest', '--raw', '--type', 'agent:text', '--json');
  const said = (texts.json() as { id: string }[]).at(-1)?.id ?? '';
  return {
    line,
    answers,
    tour,
    cafe: named('demo/cafe'),
    ids: dispatches.map(({ dispatchId }) => dispatchId),
    said,
  };
}

function on(name: StoreName): Recorded {
  const found = recorded[name];
  if (found === undefined) throw new Error(`${name} was not recorded.`);
  return found;
}

/**
 * What a command printed, with the parts that differ between two runs on one store replaced: ids by the order in which they appear,
 * times, durations, sizes in bytes, and the spaces that align columns. The demonstration names its files where the store has some.
 */
function comparable({ code, out, err }: Answer, { line, ids: known }: Recorded): string {
  const ids = new Map(known.map((id, at) => [id, `<id ${at}>`]));
  const numberOf = (id: string) => {
    const number = ids.get(id) ?? `<id ${ids.size}>`;
    ids.set(id, number);
    return number;
  };
  let text = `exit ${code}\n${out}${err}`
    .replaceAll(line.cwd, '<folder>')
    .replaceAll(/01[0-9A-HJKMNP-TV-Z]{24}/g, numberOf);
  for (const [id, number] of ids)
    for (const columns of [8, 6]) text = text.replaceAll(id.slice(-columns), `${number}, short`);
  return text
    .replaceAll(/(tour|cafe)-\d{8}-\d{6}/g, '$1-<start>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
    .replaceAll(/\d\d:\d\d:\d\d(\.\d{3})?/g, '<time>')
    .replaceAll(/"(duration\w*)":[\d.]+/g, '"$1":<duration>')
    .replaceAll(/\b[\d.]+ ?(ms|s)\b/g, '<duration>')
    .replaceAll(/[\d,]+ bytes: all whole/g, '<size>: all whole')
    .replaceAll(/^\nThe files, one for each session: .*\n/gm, '')
    .replaceAll(/ +/g, ' ');
}

describe('a configuration of one line puts the log into PostgreSQL, and the command prints what it prints on files', () => {
  it.each([
    ['demo', 0],
    ['chat', 1],
    ['import', 2],
    ['import again', 3],
  ] as const)('hansard %s', (_, index) => {
    const [files, postgres] = [on('files'), on('PostgreSQL')];
    const [expected, actual] = [files.answers[index], postgres.answers[index]];
    if (expected === undefined || actual === undefined) throw new Error('There is no such answer.');
    expect(expected).toMatchObject({ code: 0 });
    expect(expected.out).not.toBe('');
    expect(comparable(actual, postgres)).toBe(comparable(expected, files));
  });

  it.each<[string, (recorded: Recorded) => readonly string[]]>([
    ['ls', () => ['ls']],
    ['ls --json of a task', ({ tour }) => ['ls', tour, '--json']],
    ['tree', ({ tour }) => ['tree', tour]],
    ['tree of an import', () => ['tree', 'logs/imported']],
    ['show', ({ tour }) => ['show', tour]],
    ['show of an import', () => ['show', 'logs/imported']],
    ['events', () => ['show', 'chat/cafe/latest', '--raw']],
    ['events --json', ({ cafe }) => ['show', `${cafe}/latest`, '--raw', '--json']],
    ['tail', () => ['show', 'chat/cafe', '--raw']],
    ['timeline', ({ tour }) => ['show', tour, '--raw']],
    ['dialog', () => ['dialog', 'chat/cafe']],
    ['heard', () => ['heard', 'chat/cafe']],
    ['heard, one agent', () => ['heard', 'chat/cafe', '--agent', 'jill']],
    ['perspective', () => ['perspective', 'chat/cafe', '--agent', 'jill']],
    ['why', ({ said }) => ['why', 'chat/cafe', said]],
    ['effects', ({ said }) => ['why', 'chat/cafe', said, '--effects']],
    ['agents', () => ['tree', 'chat/cafe']],
    ['hooks', () => ['show', 'chat/cafe', '--type', 'harness:hook_decision']],
    ['context --verify', () => ['context', 'chat/cafe', '--verify']],
    ['context --verify, one agent', () => ['context', 'chat/cafe', '--agent', 'jill', '--verify']],
    ['export', () => ['export', 'chat/cafe', '--as', 'markdown']],
    ['verify', () => ['store', 'verify']],
  ])('hansard %s', async (_, argumentsFor) => {
    const [files, postgres] = [on('files'), on('PostgreSQL')];
    const expected = await files.line.hansard(...argumentsFor(files));
    const actual = await postgres.line.hansard(...argumentsFor(postgres));
    expect(expected).toMatchObject({ code: 0 });
    expect(expected.out).not.toBe('');
    expect(comparable(actual, postgres)).toBe(comparable(expected, files));
  });

  it('writes no file', () => {
    expect(readdirSync(on('PostgreSQL').line.cwd)).toEqual(['hansard.config.json']);
  });
});

it('the program of docs/scaling.md copies a store of files, also when it runs again', async () => {
  const { line, cafe } = on('files');
  const block = documentedCode().find(({ place }) => place.startsWith('docs/scaling.md'));
  const root = JSON.stringify(join(line.cwd, '.projects'));
  const program =
    block?.code.replace("'.projects'", root).replace('{ url:', '{ schema: "copied", url:') ?? '';
  const given = ['--conditions=@hansard/source', '--input-type=module-typescript', '--eval', program];
  for (const _ of ['first', 'again']) {
    const { status, stderr } = spawnSync(process.execPath, given, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  }
  const store = { plugin: '@hansard/store-postgres', config: { schema: 'copied' } };
  writeFileSync(join(line.cwd, 'copied.json'), JSON.stringify({ communication: [], store }));
  for (const words of [
    ['ls'],
    ['tree', cafe],
    ['show', `${cafe}/latest`, '--raw', '--json'],
    ['context', cafe, '--verify'],
  ])
    expect(await line.hansard(...words, '--config', 'copied.json')).toMatchObject({
      code: 0,
      out: (await line.hansard(...words)).out,
    });
  expect(await line.hansard('store', 'verify', '--config', 'copied.json')).toMatchObject({ code: 0 });
});
