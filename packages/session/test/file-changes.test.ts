import { FileBlame, fileRecordsOf, LineTable, stepOf } from '@hansard/views';
import { expect, it } from 'vitest';
import { prepare } from './prepare.ts';
import { answers, says, tools } from './scripted.ts';

const file = '/w/notes.md';
const first = '# Notes\n\nThe first line of the notes.\n';
const second = `${first}The second line of the notes.\n`;

it('the files that a tool says it changed are recorded, and say which call wrote each line', async () => {
  const { create, events } = prepare();
  const contents = [null, first, second];
  const write = ({ toolCallId }: { readonly toolCallId: string }) => {
    const at = Number(toolCallId.slice(1));
    const changes = [
      { path: file, before: contents[at - 1] as string | null, after: contents[at] as string },
    ];
    return { status: 'completed' as const, text: 'written', changes };
  };
  const calls = [1, 2].map((number) => ({
    text: '',
    toolCalls: [{ toolCallId: `c${number}`, tool: 'write', input: {} }],
  }));
  const { root } = await create({
    tools: [tools({ write })],
    model: answers(...calls, says('Done.')),
  });
  await root.harken('Write notes.');
  await root.response();
  const log = await events();
  const table = new LineTable();
  const blame = new FileBlame<string>(table);
  for (const event of log)
    for (const record of fileRecordsOf(event))
      blame.add(stepOf(table, record), String((event.data as { toolCallId?: string }).toolCallId));
  expect(blame.linesOf(file)?.map(({ text, origin }) => `${origin?.by} ${text}`)).toEqual([
    'c1 # Notes',
    'c1 ',
    'c1 The first line of the notes.',
    'c2 The second line of the notes.',
  ]);
});

it.each([
  ['that are not a list', 'a.txt', 'write returned changes that are not a list.'],
  ['without a path', [{ after: 'x' }], 'path'],
])('changes %s are an error that the model reads', async (_, changes, message) => {
  const { create, events } = prepare();
  const write = () => ({ status: 'completed' as const, text: 'written', changes }) as never;
  const { root } = await create({
    tools: [tools({ write })],
    model: answers({ text: '', toolCalls: [{ toolCallId: 'c1', tool: 'write', input: {} }] }, says('Done.')),
  });
  await root.harken('Write notes.');
  await root.response();
  const result = (await events()).find(({ type }) => type === 'agent:tool_result');
  expect(result?.data).toMatchObject({ status: 'error', error: expect.stringContaining(message) });
});
