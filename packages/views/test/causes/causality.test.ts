import { event } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import {
  causesOf,
  createLogIndex,
  effectsOf,
  knownBy,
  perspectiveOf,
  renderCauses,
  SessionViewer,
} from '../../src/index.ts';
import { calls, created, heard, marketLog, piece, says } from '../market-log.ts';

function ids(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id);
}

describe('causesOf', () => {
  const index = createLogIndex(marketLog());

  it('follows heard messages, substances, calls and causes back to the start, oldest first', () => {
    expect(ids(causesOf(index, 'e17'))).toEqual([
      'e2',
      'e3.2',
      'e3.3',
      'e3.4',
      'e6',
      'e8',
      'e10',
      'e11',
      'e12',
      'e13',
      'e15',
      'e16',
      'e17',
    ]);
    const [delivery] = causesOf(index, 'e17').slice(-1);
    expect(delivery).toMatchObject({
      distance: 0,
      because: [
        { kind: 'substance', id: 'e15' },
        { kind: 'via', id: 'e16' },
      ],
    });
  });

  it('follows the recorded call, not other calls of the same message', () => {
    expect(ids(causesOf(index, 'e7'))).toEqual(['e2', 'e3.3', 'e7']);
  });

  it('takes the messages since the previous answer as the causes of an answer', () => {
    const [answer] = causesOf(index, 'e27').slice(-1);
    expect(answer?.because).toMatchObject([{ kind: 'heard', id: 'e26' }]);
  });

  it('keeps a reference to an event that is not in the log', () => {
    const lost = createLogIndex([heard('e1', 'ben', 'Hi', { substance: 'gone' })]);
    expect(causesOf(lost, 'e1')[0]?.because).toEqual([{ kind: 'substance', id: 'gone', isLost: true }]);
    expect(renderCauses(lost, causesOf(lost, 'e1'))).toContain('substance gone (not in this log)');
  });

  it('names the session of another dispatch that sent a message, and finds nothing wrong with the log', () => {
    const source = { kind: 'agent', dispatchId: 'D2' } as const;
    const index = createLogIndex([
      event('user:message', { text: 'Which one?', source }, { id: 'e1', cause: 'sent-1' }),
      event('agent:text', { text: 'The first.' }, { id: 'e2' }),
    ]);
    expect(index.diagnostics).toEqual([]);
    const rows = causesOf(index, 'e2');
    expect(ids(rows)).toEqual(['e1', 'e2']);
    expect(rows[0]?.because).toEqual([{ kind: 'cause', id: 'sent-1', isLost: true, dispatchId: 'D2' }]);
    expect(renderCauses(index, rows)).toContain('← cause sent-1 (in the session D2)');
  });

  it('ends when causes are cyclic', () => {
    const ring = createLogIndex([
      piece('e1', 'ben', 'one', 'e3'),
      piece('e2', 'ben', 'two', 'e1'),
      piece('e3', 'ben', 'three', 'e2'),
    ]);
    expect(ids(causesOf(ring, 'e2'))).toEqual(['e1', 'e2', 'e3']);
    expect(ids(effectsOf(ring, 'e2'))).toEqual(['e1', 'e2', 'e3']);
    expect(ids(new SessionViewer([piece('e1', 'ben', 'one', 'e1')]).traceMessageFlow('e1'))).toEqual(['e1']);
  });

  it('follows a very long chain of causes', () => {
    const events = Array.from({ length: 20_000 }, (_, index) =>
      index === 0 ? says('e0', 'ben', 'Hi') : piece(`e${index}`, 'ben', 'and so on', `e${index - 1}`),
    );
    const long = createLogIndex(events);
    expect(causesOf(long, 'e19999')).toHaveLength(20_000);
    expect(effectsOf(long, 'e0').at(-1)?.distance).toBe(19_999);
  });

  it('refuses an id that is not in the log', () => {
    expect(() => causesOf(index, 'e99')).toThrow(/e99/);
  });
});

describe('effectsOf', () => {
  const index = createLogIndex(marketLog());

  it('gives all direct and indirect effects, oldest first', () => {
    expect(ids(effectsOf(index, 'e23'))).toEqual(['e23', 'e24', 'e25', 'e26', 'e27', 'e28', 'e29', 'e30']);
  });

  it('separates the effects of one call from those of other calls of the same message', () => {
    expect(ids(effectsOf(index, 'e3.4')).slice(0, 4)).toEqual(['e3.4', 'e9', 'e10', 'e11']);
    expect(ids(effectsOf(index, 'e3.4'))).not.toContain('e7');
  });

  it('starts from all blocks of a message if the id is that of the message', () => {
    expect(ids(effectsOf(index, 'e3')).filter((id) => ['e4', 'e7', 'e9'].includes(id))).toEqual([
      'e4',
      'e7',
      'e9',
    ]);
  });

  it('gives only reasons that are in the list', () => {
    const rows = effectsOf(index, 'e27');
    const shown = new Set(ids(rows));
    expect(rows.flatMap(({ because }) => ids(because)).every((id) => shown.has(id))).toBe(true);
  });

  it('does not take the first delivery of a prompt as the cause of the others', () => {
    const given = createLogIndex([
      calls('e1', 'olga', 'c1', 'talk'),
      heard('e2', 'ben', 'Begin.', { from: 'olga', cause: 'e1' }),
      heard('e3', 'ann', 'Begin.', { from: 'olga', cause: 'e1' }),
    ]);
    expect(ids(effectsOf(given, 'e2'))).toEqual(['e2']);
  });
});

describe('a message that arrives during a call', () => {
  const inferred = (id: string, messageId: string, through: string | null | undefined) =>
    event(
      'agent:inference',
      {
        model: 'm',
        usage: { inputTokens: 1, outputTokens: 1 },
        ...(through === undefined ? {} : { context: { through } }),
      },
      { id, agentId: 'ben', messageId },
    );
  const log = (...through: readonly (string | null | undefined)[]) =>
    createLogIndex([
      created('e1', 'ben', 'Ben'),
      heard('e2', 'ben', 'First?'),
      heard('e3', 'ben', 'Second?'),
      says('e4', 'ben', 'One.'),
      inferred('e5', 'e4', through[0]),
      says('e6', 'ben', 'Two.'),
      inferred('e7', 'e6', through[1]),
    ]);

  it('is a cause of the answer whose model was given it, not of an earlier one', () => {
    const index = log('e2', 'e5');
    expect(ids(causesOf(index, 'e4'))).toEqual(['e2', 'e4']);
    expect(ids(causesOf(index, 'e6'))).toEqual(['e3', 'e6']);
    expect(ids(effectsOf(index, 'e3'))).toEqual(['e3', 'e6']);
    const viewer = new SessionViewer(index.nodes.map((node) => node.event));
    expect(ids(viewer.traceMessageFlow('e4'))).toEqual(['e2', 'e4']);
  });

  it('is not known to the answer of that call, and comes after it in the perspective', () => {
    const index = log('e2', 'e5');
    expect(ids(knownBy(index, 'ben', 'e4'))).toEqual(['e2']);
    expect(ids(knownBy(index, 'ben', 'e5'))).toEqual(['e2']);
    expect(ids(knownBy(index, 'ben', 'e6'))).toEqual(['e2', 'e3']);
    expect(ids(knownBy(index, 'ben', 'e3'))).toEqual(['e2', 'e3']);
    expect(ids(perspectiveOf(index, 'ben'))).toEqual(['e2', 'e4', 'e3', 'e6']);
  });

  it('counts as given to the answer if the log does not record what was given', () => {
    for (const index of [log(undefined, undefined), log('gone', undefined)]) {
      expect(ids(causesOf(index, 'e4'))).toEqual(['e2', 'e3', 'e4']);
      expect(ids(knownBy(index, 'ben', 'e4'))).toEqual(['e2', 'e3']);
      expect(ids(perspectiveOf(index, 'ben'))).toEqual(['e2', 'e3', 'e4', 'e6']);
    }
    expect(ids(causesOf(log(null, 'e5'), 'e4'))).toEqual(['e4']);
  });
});

describe('renderCauses', () => {
  it('prints a line for each event, with its reasons below', () => {
    const index = createLogIndex([
      created('e1', 'ben', 'Ben'),
      heard('e2', 'ben', 'What is\nthere?'),
      says('e3', 'ben', 'Rye.'),
    ]);
    expect(renderCauses(index, causesOf(index, 'e3'))).toBe(
      [
        '1  Ben  message  from user What is⏎there?',
        '2  Ben  text     Rye.',
        '    ← heard 1 (reconstructed)',
      ].join('\n'),
    );
  });
});
