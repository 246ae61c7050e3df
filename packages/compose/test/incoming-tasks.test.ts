import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommunicationHost, CommunicationProvider } from '@hansard/provider';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openHarness } from '../src/index.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'hansard-incoming-'));
  const folder = join(cwd, 'plugins/parrot');
  mkdirSync(folder, { recursive: true });
  const manifest = { id: 'parrot', provides: 'AgentProvider', entry: './index.mjs', apiVersion: 1 };
  writeFileSync(join(folder, 'plugin.json'), JSON.stringify(manifest));
  writeFileSync(
    join(folder, 'index.mjs'),
    `export default {
      id: 'parrot',
      provides: 'AgentProvider',
      create: () => ({
        contract: 1,
        async *run({ prompt }) {
          yield { kind: 'event', event: { type: 'agent:text', data: { text: prompt } } };
        },
      }),
    };`,
  );
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

/** A harness with this configuration besides the agent, and the host that its provider was given. */
async function open(config: object) {
  const plugins = [{ plugin: './plugins/parrot' }];
  writeFileSync(join(cwd, 'hansard.config.json'), JSON.stringify({ plugins, ...config }));
  const started = Promise.withResolvers<CommunicationHost>();
  const ended = Promise.withResolvers<string>();
  const slack: CommunicationProvider = {
    contract: 1,
    start: (host) => started.resolve(host),
    eventRecorded: () => {},
    dispatchEnded: ({ envelope }) => ended.resolve(envelope.status),
  };
  const harness = await openHarness({
    cwd,
    env: {},
    load: 'record',
    packageDirs: [import.meta.dirname],
    communication: [slack],
  });
  return { harness, host: await started.promise, ended: ended.promise };
}

describe('a task from a communication provider', () => {
  it('runs with the agent, project and role of the configuration', async () => {
    const { harness, host, ended } = await open({
      incomingTasks: { agent: 'parrot', project: 'slack', role: 'helper' },
    });
    const source = { kind: 'external', what: 'service', name: '@ann' } as const;
    const { taskDir, dispatchId } = await host.start({ prompt: 'Say so.', task: 'hello', source });
    expect(taskDir).toBe('slack/tasks/hello');
    expect(await ended).toBe('completed');
    const events = await harness.store.getDispatchEvents(taskDir, dispatchId);
    expect(events.map(({ data }) => data)).toEqual([{ text: 'Say so.', source }, { text: 'Say so.' }]);
    expect(await harness.store.getDispatchEnvelope(taskDir, dispatchId)).toMatchObject({ role: 'helper' });
    expect((await host.start({ prompt: 'A new one.' })).taskDir).toMatch(/^slack\/tasks\/[0-9a-z]{26}$/);
    await harness.close();
  });

  it.each(['../up', 'a/b', '', '.hidden', 'x'.repeat(200)])('with the task %j is refused', async (task) => {
    const { harness, host } = await open({ incomingTasks: { agent: 'parrot' } });
    await expect(host.start({ prompt: 'Go.', task })).rejects.toMatchObject({ code: 'HARNESS_NAME_INVALID' });
    await harness.close();
  });

  it('with an agent that is not loaded is refused, and without the configuration, too', async () => {
    const unknown = await open({ incomingTasks: { agent: 'nobody' } });
    await expect(unknown.host.start({ prompt: 'Go.' })).rejects.toMatchObject({
      code: 'HARNESS_PROVIDER_UNKNOWN',
    });
    await unknown.harness.close();
    const off = await open({});
    await expect(off.host.start({ prompt: 'Go.' })).rejects.toMatchObject({ code: 'DISPATCH_START_REFUSED' });
    await off.harness.close();
  });
});
