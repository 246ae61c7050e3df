import { exampleText, isCorpusThere, skipped } from '@hansard/testing';
import { createLogIndex, dialogOf, hearingMatrix, interventionsOf, perspectiveOf } from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { sessionFormats } from '../src/index.ts';

/** Views of the examples of both specifications. */
describe.each([sessionFormats['session-v1'], sessionFormats['session-v2']])(
  'the examples of $id',
  ({ id, read }) => {
    const indexOf = (example: string) => createLogIndex(read(exampleText(id, example)).events);

    it.skipIf(!isCorpusThere)(
      `1: the dialog of Jack and Jill is three rows in order, the prompt once${skipped}`,
      () => {
        const rows = dialogOf(indexOf('1'), ['Jack', 'Jill']);
        expect(
          rows.map(({ speaker, audience }) => [
            speaker.agentId,
            audience.map(({ agentId, how }) => [agentId, how]),
          ]),
        ).toEqual([
          [
            'agent_root',
            [
              ['agent_jack', 'same'],
              ['agent_jill', 'same'],
            ],
          ],
          ['agent_jack', [['agent_jill', 'wrapped']]],
          ['agent_jill', [['agent_jack', 'wrapped']]],
        ]);
        expect(rows.map(({ text }) => text.slice(0, 12))).toEqual([
          'You meet in ',
          "Hi, I'm Jack",
          '*smiles* Hel',
        ]);
      },
    );

    it.skipIf(!isCorpusThere)(`2: nobody but Jill hears the inner voice${skipped}`, () => {
      const index = indexOf('2');
      const { rows } = hearingMatrix(index);
      const inner = rows.filter(({ saying }) => saying.speaker.agentId === 'agent_jill_inner');
      // In v2, the result does not name the utterance as its substance: that Jill heard it is not recorded.
      const heardByJill = id === 'session-v1' ? [['agent_jill', ['same']]] : [];
      expect(inner.map(({ cells }) => [...cells].sort())).toEqual([
        [...heardByJill, ['agent_jill_inner', ['said']]],
      ]);
      const received = perspectiveOf(index, 'agent_jill').find(({ kind }) => kind === 'received');
      expect(received?.text).toBe('Be friendly but not over-eager. A simple greeting with a smile.');
      expect(perspectiveOf(index, 'agent_jill').map(({ kind }) => kind)).toEqual([
        'did',
        'heard',
        'did',
        'received',
        'said',
      ]);
    });

    it.skipIf(!isCorpusThere)(`3: the denial names the hook and the denied call${skipped}`, () => {
      expect(interventionsOf(indexOf('3'))).toMatchObject([
        {
          hook: 'ResourceMonitor',
          on: 'tool_call',
          decision: 'deny',
          agentId: 'agent_root',
          reason: 'Maximum subagents (3) already reached.',
          subject: { id: 'msg_102' },
          effect: 'stopped',
          outcome: { id: 'msg_105' },
          verdict: { id: 'msg_104', agentId: 'agent_resource_hook' },
        },
      ]);
    });

    it.skipIf(!isCorpusThere)(`4: the watcher hears of the file from outside${skipped}`, () => {
      const [heard, said] = perspectiveOf(indexOf('4'), 'agent_watcher');
      expect(heard).toMatchObject({ id: 'msg_200', kind: 'heard', from: { kind: 'external' } });
      expect(said).toMatchObject({ id: 'msg_201', kind: 'said' });
    });
  },
);
