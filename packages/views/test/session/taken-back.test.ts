import type { CapturedEvent } from '@hansard/events';
import { event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  audienceOf,
  causesOf,
  createLogIndex,
  dialogOf,
  flowMermaid,
  hearingMatrix,
  knownBy,
  messageFlow,
  perspectiveOf,
  renderCauses,
  renderDialog,
  renderFlow,
  renderHearing,
  renderKnown,
  renderPerspective,
  SessionViewer,
} from '../../src/index.ts';
import { created, heard, says } from '../market-log.ts';

const back = (id: string, agentId: string, keptThrough: string): CapturedEvent =>
  event('session:rewind', { keptThrough }, { id, agentId });

/** Ben offers rye, Ann answers; then Ben goes back behind his offer, and offers spelt. */
const log = [
  created('e0', 'ben', 'Ben'),
  created('e1', 'ann', 'Ann'),
  heard('e2', 'ben', 'Sell bread.'),
  says('e3', 'ben', 'Fresh rye!'),
  heard('e4', 'ann', '[Ben]: Fresh rye!', { from: 'ben', substance: 'e3' }),
  says('e5', 'ann', 'Two, please.'),
  heard('e6', 'ben', '[Ann]: Two, please.', { from: 'ann', substance: 'e5' }),
  back('e7', 'ben', 'e2'),
  says('e8', 'ben', 'Spelt!'),
  heard('e9', 'ann', '[Ben]: Spelt!', { from: 'ben', substance: 'e8' }),
  says('e10', 'ann', 'You said rye.'),
];
const index = createLogIndex(log);
const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

describe('an utterance that its author took back', () => {
  it('stays in the dialog, marked, with those that heard it', () => {
    expect(renderDialog(index, dialogOf(index))).toBe(
      [
        '   2  user: Sell bread.',
        '      heard by Ben',
        '      not heard by Ann',
        '   3  Ben: Fresh rye!',
        '      later taken back by its author',
        '      heard by Ann (wrapped)',
        '   5  Ann: Two, please.',
        '      heard by Ben (wrapped, on an abandoned branch)',
        '   8  Ben: Spelt!',
        '      heard by Ann (wrapped)',
        '  10  Ann: You said rye.',
      ].join('\n'),
    );
    const [, offer] = index.sayings;
    expect(offer && audienceOf(index, offer)).toMatchObject({ receivers: ['ann'], isPublic: true });
  });

  it('is in no later prompt of its author, with what the author heard there', () => {
    expect(ids(causesOf(index, 'e8'))).toEqual(['e2', 'e8']);
    expect(ids(knownBy(index, 'ben', 'e8'))).toEqual(['e2']);
    expect(ids(knownBy(index, 'ben', 'e5'))).toEqual(['e2']);
    expect(ids(knownBy(index, 'ben', 'e6'))).toEqual(['e2', 'e6']);
    expect(ids(knownBy(index, 'ben'))).toEqual(['e2']);
    expect(new SessionViewer(log).getTranscript('ben').map(({ messageId }) => messageId)).toEqual([
      'e2',
      'e8',
    ]);
  });

  it('is still a cause of what others answered, marked', () => {
    expect(ids(causesOf(index, 'e10'))).toEqual(['e2', 'e8', 'e9', 'e10']);
    expect(ids(causesOf(index, 'e5'))).toEqual(['e2', 'e3', 'e4', 'e5']);
    expect(renderCauses(index, causesOf(index, 'e5'))).toContain('later taken back by its author');
    expect(renderKnown(index, knownBy(index, 'ann', 'e10'))).toContain(
      '4  heard (later taken back by its author): [Ben]: Fresh rye!',
    );
  });

  it('is marked in tables, drawings and perspectives', () => {
    expect(renderHearing(index, hearingMatrix(index))).toMatch(
      /\nlater taken back by its author: 3\nheard, on an abandoned branch: 5 by Ben$/,
    );
    expect(renderFlow(messageFlow(index), { width: 80 })).toMatch(/\n +later taken back by its author: 3$/);
    expect(flowMermaid(messageFlow(index)).text).toContain('(later taken back by its author) Fresh rye!');
    expect(perspectiveOf(index, 'ben').map(({ id, fate }) => [id, fate])).toEqual([
      ['e2', undefined],
      ['e3', 'abandoned'],
      ['e6', 'abandoned'],
      ['e8', undefined],
    ]);
    expect(renderPerspective(index, perspectiveOf(index, 'ann'))).toContain(
      'from Ben (later taken back by its author): [Ben]: Fresh rye!',
    );
    expect(renderPerspective(index, perspectiveOf(index, 'ben'))).toContain(
      'from Ann (on an abandoned branch): [Ann]: Two, please.',
    );
  });
});

describe('a message that the engine took back', () => {
  const taken = createLogIndex([
    created('e0', 'ben', 'Ben'),
    heard('e1', 'ben', 'Sell bread.'),
    says('e2', 'ben', 'I will not.'),
    event('harness:stall', { idleMs: 1, limitMs: 2 }, { id: 'e3', agentId: 'ben', retracts: ['e2'] }),
    says('e4', 'ben', 'Fresh rye!'),
  ]);

  it('is in no later prompt, and marked', () => {
    expect(ids(causesOf(taken, 'e4'))).toEqual(['e1', 'e4']);
    expect(dialogOf(taken).map(({ id, fate }) => [id, fate])).toContainEqual(['e2', 'retracted']);
    expect(renderDialog(taken, dialogOf(taken))).toContain("later taken back by its author's engine");
  });
});

describe('an agent that begins with the transcript of another one', () => {
  const begins = event(
    'agent:created',
    { name: 'Eve', inherits: { agentId: 'ben', through: 'e3' } },
    { id: 'i1', agentId: 'eve' },
  );
  const own = [heard('i2', 'eve', 'And you?'), says('i3', 'eve', 'Rye, too.')];

  it('knows what that has, also if it was abandoned since, or comes later in the log', () => {
    for (const events of [
      [...log, begins, ...own],
      [begins, ...own, ...log],
    ]) {
      const inherits = createLogIndex(events);
      expect(ids(knownBy(inherits, 'eve', 'i3'))).toEqual(['e2', 'i2']);
      expect(ids(perspectiveOf(inherits, 'eve'))).toEqual(['e2', 'e3', 'i2', 'i3']);
      expect(perspectiveOf(inherits, 'eve').flatMap(({ fate }) => fate ?? [])).toEqual([]);
    }
  });
});

describe('a link of a branch that leads nowhere', () => {
  it('is a diagnostic of the log', () => {
    const { diagnostics } = createLogIndex([created('e0', 'ben'), back('e1', 'ben', 'gone')]);
    expect(diagnostics.map(({ code, eventId }) => [code, eventId])).toEqual([['branch_unknown', 'e1']]);
  });
});
