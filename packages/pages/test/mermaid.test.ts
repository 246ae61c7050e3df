import { createRequire } from 'node:module';
import { join } from 'node:path';
import { event } from '@hansard/testing';
import { createLogIndex, flowMermaid, messageFlow } from '@hansard/views';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser } from '../../../scripts/engines/browser.ts';
import { root } from '../../../scripts/workspace.ts';
import { writeTaskMarkdown } from '../src/index.ts';
import { envelope, hostileTexts, sourceOf, wholeOf } from './hostile-task.ts';

const mermaid = createRequire(join(root, 'scripts/engines/package.json')).resolve(
  'mermaid/dist/mermaid.min.js',
);
let browser: Awaited<ReturnType<typeof openBrowser>>;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

/** The texts that Mermaid draws for a diagram, and whether a script in it ran. */
async function drawn(text: string): Promise<{ texts: string[]; lines: number; taken: boolean }> {
  const page = await browser.newPage();
  await page.addScriptTag({ path: mermaid });
  const found = await page.evaluate(async (code) => {
    const { mermaid, taken } = globalThis as unknown as {
      mermaid: {
        initialize(options: object): void;
        render(id: string, code: string): Promise<{ svg: string }>;
      };
      taken?: boolean;
    };
    mermaid.initialize({ startOnLoad: false });
    document.body.innerHTML = (await mermaid.render('drawing', code)).svg;
    const textsOf = (selector: string) =>
      [...document.querySelectorAll(selector)].map((one) => one.textContent ?? '');
    return {
      texts: textsOf('.messageText, .noteText'),
      lines: document.querySelectorAll('.messageLine0, .messageLine1').length,
      taken: taken === true,
    };
  }, text);
  await page.close();
  return found;
}

const texts = [
  ...hostileTexts,
  'end',
  'loop every minute',
  'a->>b: c; d # e %% f',
  'alt x\nend',
  '한국어 🙂 ñ',
  '',
];
const events = texts.flatMap((text, at) => {
  const id = `said-${at}`;
  const source = { kind: 'agent', agentId: `a${at}` } as const;
  return [
    event('agent:created', { name: text }, { id: `made-${at}`, agentId: `a${at}` }),
    event('agent:created', { name: `hearer ${at}` }, { id: `hearer-${at}`, agentId: `b${at}` }),
    event('agent:text', { text }, { id, agentId: `a${at}` }),
    event('user:message', { text, source }, { id: `heard-${at}`, agentId: `b${at}`, substance: id }),
  ];
});

it('is drawn by the real Mermaid, with an arrow for each delivery and every text as it is', async () => {
  const flow = messageFlow(createLogIndex(events));
  const arrows = flow.steps.reduce((sum, { to }) => sum + to.length, 0);
  expect(arrows).toBe(texts.length);
  const found = await drawn(flowMermaid(flow).text);
  expect([found.lines, found.taken]).toEqual([arrows, false]);
  const shown = found.texts.join('\n');
  for (const text of [
    'end',
    'loop every minute',
    'a->>b: c; d # e %% f',
    '한국어 🙂 ñ',
    '<img src=x onerror="globalThis.taken = true">',
  ])
    expect(shown).toContain(text);
});

it('is drawn with one line for what everybody heard', async () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const made = ids.map((id) => event('agent:created', { name: id }, { id: `made-${id}`, agentId: id }));
  const said = event('agent:text', { text: 'end: to; all' }, { id: 'said', agentId: 'a' });
  const heard = ids.slice(1).map((agentId) => {
    const source = { kind: 'agent', agentId: 'a' } as const;
    return event(
      'user:message',
      { text: 'end: to; all', source },
      { id: `h-${agentId}`, agentId, substance: 'said' },
    );
  });
  const flow = messageFlow(createLogIndex([...made, said, ...heard]));
  const found = await drawn(flowMermaid(flow).text);
  expect([found.lines, found.texts]).toEqual([0, ['5 a to all: end: to; all']]);
});

it('is in the Markdown of a task, as a block of its own', async () => {
  const markdown = await wholeOf(writeTaskMarkdown(sourceOf([envelope], events)));
  const blocks = [...markdown.matchAll(/^```mermaid\n([\s\S]*?)\n```$/gm)];
  expect(blocks).toHaveLength(1);
  const flow = messageFlow(createLogIndex(events));
  expect((await drawn(blocks[0]?.[1] ?? '')).lines).toBe(
    flow.steps.reduce((sum, { to }) => sum + to.length, 0),
  );
});
