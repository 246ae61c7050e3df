import { describe, expect, it } from 'vitest';
import { SessionViewer } from '../../src/index.ts';
import { calls, created, decides, heard, marketLog, receives, says } from '../market-log.ts';

function ids(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

describe('SessionViewer', () => {
  const viewer = new SessionViewer(marketLog());

  it('lists agents by id with their names', () => {
    expect([
      ...new SessionViewer([created('e1', 'ben', 'Ben'), says('e2', 'owl', 'Hoo')]).listAgents(),
    ]).toEqual([
      ['ben', 'Ben'],
      ['owl', 'owl'],
    ]);
  });

  it('gives the transcript of an agent by id or name', () => {
    expect(viewer.getTranscript('Ben').map(({ message }) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
    expect(viewer.getTranscript('ben')).toEqual(viewer.getTranscript('Ben'));
    expect(() => viewer.getTranscript('zoe')).toThrow(TypeError);
  });

  it('extracts a dialog and a perspective', () => {
    expect(ids(viewer.extractDialog(['ben', 'ann']))).toEqual(['e12', 'e15', 'e27']);
    expect(viewer.extractAgentPerspective('inner')).toBe(
      '(reconstructed: the log does not record what the model was given)\n' +
        '  27  heard     from Ann: Shall I haggle?\n  28  said      No. He was up at three.',
    );
  });

  it('gives each message its parent', () => {
    const parents = viewer.buildCausalityIndex();
    expect(
      [...parents].filter(([id]) => ['e4', 'e12', 'e13', 'e15', 'e17', 'e26', 'e27'].includes(id)),
    ).toEqual([
      ['e4', 'e3'],
      ['e12', 'e11'],
      ['e13', 'e12'],
      ['e15', 'e13'],
      ['e17', 'e15'],
      ['e26', 'e25'],
      ['e27', 'e26'],
    ]);
    expect(parents.has('e2')).toBe(false);
  });

  it('traces the chain that ends in a message, oldest first', () => {
    expect(ids(viewer.traceMessageFlow('e28'))).toEqual(
      'e2 e3.4 e10 e11 e12 e13 e15 e17 e19 e21 e22 e23 e24 e25 e26 e27 e28'.split(' '),
    );
  });

  it('finds the messages whose substance is a content', () => {
    expect(viewer.traceContentReferences('e12').map(({ messageId }) => messageId)).toEqual(['e13', 'e14']);
    expect(viewer.traceContentReferences('e15').map(({ messageId }) => messageId)).toEqual(['e17']);
    expect(viewer.traceContentReferences('e30')).toEqual([]);
  });
});

describe('a log of the older dialect', () => {
  it('is traced by its causes', () => {
    const viewer = new SessionViewer([
      heard('m1', 'olga', 'Begin'),
      calls('m2', 'olga', 'c1', 'talk', {}, { cause: 'm1' }),
      heard('m3', 'ben', 'Speak', { from: 'olga', cause: 'm2' }),
      says('m4', 'ben', 'Rye', { cause: 'm3' }),
      receives('m5', 'olga', 'c1', 'Rye', { substance: 'm4' }),
      heard('m6', 'ann', '[Ben]: Rye', { from: 'ben', substance: 'm4' }),
      decides('m7', 'ann', { hook: 'h', on: 'delivery', decision: 'allow', subject: 'm4' }),
    ]);
    expect(ids(viewer.traceMessageFlow('m6'))).toEqual(['m1', 'm2', 'm3', 'm4', 'm6']);
    expect(viewer.traceContentReferences('m4').map(({ messageId }) => messageId)).toEqual(['m5', 'm6']);
  });
});
