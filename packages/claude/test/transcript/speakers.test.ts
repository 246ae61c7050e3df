import type { JsonObject } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { answer, lines, prompt, readTranscript, record, text, uuid } from './transcripts.ts';

/** The messages of the records: who said what. */
async function heard(...records: JsonObject[]) {
  const { events } = await readTranscript(lines(...records));
  const messages = events.filter(({ type }) => type === 'user:message');
  return messages.map(({ data }) => [data.source, data.text]);
}

const system = { kind: 'system' };
const user = { kind: 'user' };

describe('the words of a user record', () => {
  it.each([
    '[Request interrupted by user]',
    '[Request interrupted by user for tool use]',
    '<command-name>/cost</command-name>\n<command-message>cost</command-message>\n<command-args></command-args>',
    '<command-message>init is running…</command-message>\n<command-name>/init</command-name>',
    '<bash-input>ls -la</bash-input>',
    '<bash-stdout>total 0</bash-stdout><bash-stderr></bash-stderr>',
    '<local-command-stdout>Total cost: $1</local-command-stdout>',
    '<user-prompt-submit-hook>Be brief.</user-prompt-submit-hook>',
    '<ide_opened_file>The user opened shelf.ts.</ide_opened_file>',
    '<system-reminder>\nNever mention llamas.\n</system-reminder>',
  ])('are the words of the engine: %s', async (words) => {
    expect(await heard(prompt(1, words))).toEqual([[system, words]]);
  });

  it.each([
    'What is on the shelf?',
    'It said [Request interrupted by user] again',
    '<command-name>/tidy</command-name>\n<command-args>the top shelf</command-args>',
    'Explain <teammate-message teammate_id="alice">hi</teammate-message> to me',
    '<teammate-message teammate_id="alice">it never ends',
  ])('stay the words of the user: %s', async (words) => {
    expect(await heard(prompt(1, words))).toEqual([[user, words]]);
  });

  it('are those of the user beside a block that the engine added', async () => {
    const blocks = [text('<ide_selection>owl</ide_selection>'), text('What is it?')];
    const asked = record(1, {
      type: 'user',
      message: { role: 'user', content: blocks },
      origin: { kind: 'human' },
    });
    expect(await heard(asked)).toEqual([
      [system, '<ide_selection>owl</ide_selection>'],
      [user, 'What is it?'],
    ]);
  });

  it.each([
    [{ kind: 'human' }, user],
    [
      { kind: 'channel', server: 'chat' },
      { kind: 'external', what: 'service' },
    ],
    [
      { kind: 'peer', name: 'ledger', from: 'uds:/tmp/31.sock' },
      { kind: 'agent', agentId: 'ledger' },
    ],
    [
      { kind: 'peer', from: 'scan 03' },
      { kind: 'agent', agentId: 'scan-03' },
    ],
    [
      { kind: 'peer', name: 'scan-03', senderTaskId: 'ascan03' },
      { kind: 'agent', agentId: 'ascan03' },
    ],
    [{ kind: 'task-notification' }, system],
    [
      { kind: 'task-notification', subkind: 'scheduled-trigger' },
      { kind: 'external', what: 'timer' },
    ],
    [{ kind: 'task-notification', subkind: 'external-event' }, { kind: 'external' }],
    [{ kind: 'coordinator' }, { kind: 'agent' }],
    [{ kind: 'auto-continuation' }, system],
    [{ kind: 'slack-ping' }, system],
    [{ kind: 'constructor' }, user],
  ])('are those of the sender that their origin names: %j', async (origin, source) => {
    expect(await heard(prompt(1, 'Hi', { origin }))).toEqual([[source, 'Hi']]);
    const queued = { type: 'queued_command', prompt: 'Hi', commandMode: 'prompt', origin };
    expect(await heard(record(1, { type: 'attachment', attachment: queued }))).toEqual([[source, 'Hi']]);
  });

  it('are the body of a message between agents, and its markup is kept beside', async () => {
    const wrapped = '<agent-message from="scan-03">\nEleven crates.\n</agent-message>';
    const origin = { kind: 'peer', name: 'scan-03', body: 'Eleven crates.' };
    const { events } = await readTranscript(lines(prompt(1, wrapped, { origin })));
    expect(events[0]?.data).toMatchObject({ text: 'Eleven crates.', details: { wrapped, origin } });
  });
});

describe('the messages of teammates', () => {
  const note = (id: string, body: string) =>
    `<teammate-message teammate_id="${id}" color="blue" summary="owls">\n${body}\n</teammate-message>`;

  it('are the words of each teammate, and their signals those of the engine', async () => {
    const signal = '{"type":"idle_notification","from":"bob"}';
    const all = [note('alice', 'There are seven owls.'), note('bob', signal), note('system', 'bob left')];
    const { events } = await readTranscript(lines(prompt(1, all.join('\n\n'))));
    expect(events.map(({ id, data }) => [id, data.source, data.text])).toEqual([
      [uuid(1), { kind: 'agent', agentId: 'alice' }, 'There are seven owls.'],
      [`${uuid(1)}.1`, system, signal],
      [`${uuid(1)}.2`, system, 'bob left'],
    ]);
    expect(events[0]?.data.details).toMatchObject({ wrapped: all[0] });
  });

  it('name the agent of a teammate that has a file, and the lead in that file', async () => {
    const side = { isSidechain: true, agentId: 'acount23', timestamp: '2026-03-01T09:30:02.000Z' };
    const { events } = await readTranscript(lines(prompt(1, 'Count.'), prompt(5, note('alice', 'Seven.'))), {
      beside: {
        'session/subagents/agent-acount23.meta.json': JSON.stringify({ agentType: 'general', name: 'alice' }),
        'session/subagents/agent-acount23.jsonl': lines(
          prompt(11, note('team-lead', 'Count the owls.'), { ...side, parentUuid: null }),
          answer(12, text('Seven.'), {}, side),
        ),
      },
    });
    const said = events.filter(({ type }) => type === 'user:message');
    expect(said.map(({ data }) => [data.source, data.text])).toEqual([
      [{ kind: 'user' }, 'Count.'],
      [{ kind: 'agent', agentId: 'acount23' }, 'Seven.'],
      [{ kind: 'agent' }, 'Count the owls.'],
    ]);
    expect(events.find(({ type }) => type === 'agent:created')?.data).toMatchObject({ name: 'alice' });
  });

  it('are read in time that grows with the text only', async () => {
    const many = '<teammate-message teammate_id="a">'.repeat(40_000);
    const begun = performance.now();
    expect(await heard(prompt(1, many))).toEqual([[user, many]]);
    expect(await heard(prompt(1, `${note('a', 'x')}`.repeat(2_000)))).toHaveLength(2_000);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });
});
