import { describe, expect, it } from 'vitest';
import { ann, annAlone, type Row, write } from './talk.ts';

const answersOf = (rows: readonly Row[]) => rows.map(({ completion }) => completion[0].content);
const promptsOf = (rows: readonly Row[]) =>
  rows.map(({ prompt }) => prompt.map(({ content }: Row) => content).join(' | '));

describe('the rows of an agent that went back', () => {
  it('are those of its current branch, and the others are counted as left out', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    talk.say(ann, 'First', { isRecorded: false });
    const kept = talk.events.findLast(({ type }) => type === 'agent:text')?.id ?? '';
    talk.tell(ann, 'Two');
    talk.say(ann, 'Second', { isRecorded: false });
    const cut = talk.events.findLast(({ type }) => type === 'agent:text')?.id ?? '';
    talk.add('session:rewind', { keptThrough: kept }, { agentId: ann });
    talk.tell(ann, 'Three');
    talk.say(ann, 'Third', { isRecorded: false });
    const { rows, manifest } = await write(talk, { format: 'trl' });
    expect(answersOf(rows)).toEqual(['First', 'Third']);
    expect(promptsOf(rows)).toEqual(['You are Ann. | One', 'You are Ann. | One | First | Three']);
    expect(manifest.dropped).toEqual({ abandoned: { count: 1, first: [cut] } });
  });

  it('leave out a branch beside the current one, with a reason of its own', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    talk.say(ann, 'First', { isRecorded: false });
    const shared = talk.events.findLast(({ type }) => type === 'agent:text')?.id ?? '';
    talk.tell(ann, 'Two');
    talk.say(ann, 'Second', { isRecorded: false });
    const beside = talk.events.findLast(({ type }) => type === 'agent:text')?.id ?? '';
    talk.add('user:message', { text: 'Three', source: { kind: 'user' } }, { agentId: ann, follows: shared });
    talk.say(ann, 'Third', { isRecorded: false });
    const { rows, manifest } = await write(talk, { format: 'trl' });
    expect(answersOf(rows)).toEqual(['First', 'Third']);
    expect(manifest.dropped).toEqual({ parallel: { count: 1, first: [beside] } });
  });

  it('have no answer that the engine took back, and none that was given one', async () => {
    const talk = annAlone();
    talk.tell(ann, 'One');
    talk.say(ann, 'Refused', { isRecorded: false });
    const refused = talk.events.findLast(({ type }) => type === 'agent:text')?.id ?? '';
    talk.tell(ann, 'Two');
    talk.say(ann, 'Between', { isRecorded: false });
    talk.add(
      'user:message',
      { text: 'Three', source: { kind: 'user' } },
      { agentId: ann, retracts: [refused] },
    );
    talk.say(ann, 'After', { isRecorded: false });
    const { rows, manifest } = await write(talk, { format: 'trl' });
    expect(answersOf(rows)).toEqual(['After']);
    expect(promptsOf(rows)).toEqual(['You are Ann. | One | Two | Between | Three']);
    expect(manifest.dropped).toMatchObject({ retracted: { count: 2 } });
  });
});
