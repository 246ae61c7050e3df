import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelMessage } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { describe, expect, it, onTestFinished } from 'vitest';
import { prepare } from './prepare.ts';
import { calls, done, model, says, tools } from './scripted.ts';

/** What a narrative must not hold: words of inputs and outputs of tools. */
const canaries = {
  input: 'canary-input-3f1',
  deep: 'canary-deep-9a2',
  output: 'canary-output-77c',
  error: 'canary-error-e05',
};
const kept = ['Read the plan.', 'I read it.', 'The plan is good.'];

const files = tools({
  read: () => done(`The plan\n${canaries.output}`),
  fail: () => ({ status: 'error', text: `It failed.\n${canaries.error}` }),
});

function narrative() {
  const root = mkdtempSync(join(tmpdir(), 'hansard-narrative-session-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const prepared = prepare(openJsonFileStore({ root }));
  onTestFinished(() => prepared.store.close());
  const bytes = () =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
      .join('\n');
  return { ...prepared, bytes };
}

/** A model that reads, fails and answers, and keeps what it is given. */
function reader() {
  const prompts: string[] = [];
  const replies = [
    calls('read', { path: canaries.input, deep: [{ text: canaries.deep }] }, 'call_1', 'I read it.'),
    calls('fail', { path: 'b' }, 'call_2'),
    says('The plan is good.', { thinking: { text: 'It is short.' } }),
  ];
  const scripted = model(({ messages }: { messages: readonly ModelMessage[] }) => {
    prompts.push(JSON.stringify(messages));
    return replies.shift() ?? says('As before.');
  });
  return { prompts, model: scripted };
}

describe('a session of fidelity narrative', () => {
  it('holds no content of its tools, shows it to its models, and resumes with a word on what it lacks', async () => {
    const { create, load, bytes, envelope } = narrative();
    const first = reader();
    const { session, root } = await create({ model: first.model, tools: [files], fidelity: 'narrative' });
    await root.harken('Read the plan.');
    expect(String(await root.response())).toBe('The plan is good.');
    // While it lives, its models read everything.
    for (const canary of Object.values(canaries)) expect(first.prompts.at(-1)).toContain(canary);
    expect(JSON.stringify(await root.transcript())).toContain(canaries.output);
    await session.close();
    expect(await envelope()).toMatchObject({ fidelity: 'narrative', status: 'completed' });
    for (const canary of Object.values(canaries)) expect(bytes()).not.toContain(canary);
    for (const text of kept) expect(bytes()).toContain(text);

    const second = reader();
    second.model.generate = model(({ messages }) => {
      second.prompts.push(JSON.stringify(messages));
      return says('I do not know what it said.');
    }).generate;
    const again = await load({ model: second.model, tools: [files] });
    expect(again.session.diagnostics).toMatchObject([
      {
        code: 'content_not_kept',
        message: expect.stringContaining('the inputs of tool calls (2) and their outputs (2)'),
      },
    ]);
    await again.root.harken('What did it say?');
    await again.root.response();
    const [prompt = ''] = second.prompts;
    for (const canary of Object.values(canaries)) expect(prompt).not.toContain(canary);
    for (const text of kept) expect(prompt).toContain(text);
    expect(prompt.match(/The input was not kept/g)).toHaveLength(2);
    expect(prompt.match(/The result was not kept/g)).toHaveLength(2);
    // The first line of an error is part of a narrative.
    expect(prompt).toContain('It failed.');
    await again.session.close();
    expect(await envelope()).toMatchObject({ fidelity: 'narrative', status: 'completed' });
  });

  it('finds loops by the inputs that it does not record', async () => {
    const { create, events } = prepare();
    let called = 0;
    const different = model(() => {
      called += 1;
      return called > 30 ? says('Done.') : calls('read', { page: called }, `call_${called}`);
    });
    const { root } = await create({ model: different, tools: [files], fidelity: 'narrative' });
    await root.harken('Read all pages.');
    expect(String(await root.response())).toBe('Done.');
    const log = await events();
    expect(log.some(({ type }) => type.startsWith('harness:'))).toBe(false);
    expect(log.filter(({ data }) => 'input' in data || 'output' in data)).toEqual([]);
  });

  it('shows an evicted agent that what it read was not kept', async () => {
    const { create } = prepare();
    const { prompts, model: scripted } = reader();
    const { session, root } = await create({ model: scripted, tools: [files], fidelity: 'narrative' });
    await root.harken('Read the plan.');
    await root.response();
    await session.evictAgent(root.agentId);
    await root.harken('Again?');
    await root.response();
    expect(prompts.at(-1)).not.toContain(canaries.output);
    expect(prompts.at(-1)).toContain('The result was not kept');
  });
});
