import { createHash } from 'node:crypto';
import { type CapturedEvent, parseEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { createPseudonyms, type Player, playersOf } from '../../src/index.ts';
import { dispatchId, events, log, mapping } from './judged-game.ts';

const named = (...names: string[]): Player[] => names.map((name) => ({ name, alsoCalled: [] }));
const pseudonymsOf = (...names: string[]) => createPseudonyms(named(...names), dispatchId);

describe('pseudonyms', () => {
  it('are the same for the same dispatch, and different for another', async () => {
    const players = await playersOf(log(), mapping, dispatchId);
    const { sha256 } = createPseudonyms(players, dispatchId);
    expect(createPseudonyms([...players].reverse(), dispatchId)).toMatchObject({ sha256 });
    expect(createPseudonyms(players, 'another').sha256).not.toBe(sha256);
  });

  it('cannot be found by trying names', async () => {
    const { sha256, nameOf } = pseudonymsOf('Ann', 'Ben');
    const guesses = [
      ['P1', 'P2'],
      ['P2', 'P1'],
    ].flatMap((order) => [
      JSON.stringify(order.map((pseudonym) => [nameOf(pseudonym), pseudonym])),
      JSON.stringify(order.map((pseudonym) => [pseudonym, nameOf(pseudonym)])),
    ]);
    for (const guess of guesses) expect(createHash('sha256').update(guess).digest('hex')).not.toBe(sha256);
  });

  it.each([
    ['Player 1', 'player_1', 'PLAYER-1', 'Player1', 'Player\u00a01', 'player\u20111'],
    ['agent_001', 'Agent 001', 'agent-001', 'AGENT001'],
    ['Anne-Marie', 'anne marie', 'AnneMarie', 'Anne\u2013Marie'],
    ['José', 'JOSÉ', 'Jose\u0301', 'Jose'],
    ['Straße', 'STRASSE', 'strasse'],
    ['Ann', 'A\u200bnn', 'Ａｎｎ', '\u2060ANN', '𝐀𝐧𝐧'],
    ['Mr. (X)', 'mr. (x)'],
    ['Ann "the\\ax"', 'ann "THE\\AX"'],
    ['🦊', '🦊\ufe0f'],
    ['İpek', 'ipek', 'IPEK'],
  ])('hide %s in all its spellings', (name, ...spellings) => {
    const { hide, of } = pseudonymsOf(name, 'Somebody Else');
    for (const spelling of [name, ...spellings]) {
      const { text, count } = hide(`It was ${spelling}, and ${spelling}!`);
      expect(text.replaceAll(/[\ufe0f\u2060]/g, '')).toBe(`It was ${of(name)}, and ${of(name)}!`);
      expect(count).toBe(2);
    }
  });

  it.each([
    ['小明', '我看见小明说谎', '我看见P1说谎'],
    ['민수', '민수가 거짓말을 한다', 'P1가 거짓말을 한다'],
    ['Ann', 'Ann和我', 'P1和我'],
    ['สมชาย', 'ฉันเห็นสมชายเมื่อคืน', 'ฉันเห็นP1เมื่อคืน'],
    ['たけし', 'たけしは嘘つきだ', 'P1は嘘つきだ'],
  ])('hide %s in scripts without spaces between words', (name, text, hidden) => {
    expect(pseudonymsOf(name).hide(text).text).toBe(hidden);
  });

  it('replace the longer of two names with a common prefix, and only whole words', () => {
    const two = pseudonymsOf('Player 1', 'Player 10', 'Al');
    const { text, count } = two.hide('Player 10 and player_1, also al; also Player 100, and ALso, Ál?');
    expect(text).toBe(
      `${two.of('Player 10')} and ${two.of('Player 1')}, also ${two.of('Al')}; also Player 100, and ALso, ${two.of('Al')}?`,
    );
    expect(count).toBe(4);
  });

  it('leave a text without names unchanged, to the byte', () => {
    const text = 'Jose\u0301 and ﬁne 🦊 \u200b \ud800';
    expect(pseudonymsOf('Ann').hide(text)).toEqual({ text, count: 0 });
  });

  it('keep the text between names', () => {
    const { hide, of } = pseudonymsOf('Zoë');
    expect(hide('«ﬁ» Zoë 🦊 zoe — ½ ZOË').text).toBe(`«ﬁ» ${of('Zoë')} 🦊 ${of('Zoë')} — ½ ${of('Zoë')}`);
  });

  it('differ from the names of all players', () => {
    const { players, hide, nameOf } = pseudonymsOf('P1', 'p2', 'Ann');
    expect(players).toEqual(['Q1', 'Q2', 'Q3']);
    expect(hide('P1, P2 and ann').text).toMatch(/^Q\d, Q\d and Q\d$/);
    expect(players.map(nameOf).sort()).toEqual(['Ann', 'P1', 'p2']);
    expect(nameOf('P1')).toBeNull();
  });

  it('distinguish players whose names differ only in case', () => {
    const { hide, of } = pseudonymsOf('Ann', 'ann');
    expect(hide('Ann met ann').text).toBe(`${of('Ann')} met ${of('ann')}`);
    expect(of('Ann')).not.toBe(of('ann'));
  });

  it('are found in long texts', () => {
    const { hide } = pseudonymsOf('Ann Lee', 'Ben', 'Zoë');
    const { text, count } = hide('Ann – Zoë sees Ben. '.repeat(20_000));
    expect([count, /Ann|Ben|Zoë/.test(text)]).toEqual([60_000, false]);
  });
});

describe('players', () => {
  it('are listed once each, by name, with their ids', async () => {
    expect(await playersOf(log(), mapping, dispatchId)).toEqual([
      { name: 'Ann Lee', alsoCalled: ['agent_001'] },
      { name: 'Ben', alsoCalled: ['agent_002'] },
    ]);
  });

  it('keep one pseudonym for all their names', async () => {
    const [ann] = events.filter(({ type }) => type === 'agent:created');
    async function* renamed(): AsyncGenerator<CapturedEvent> {
      yield* events;
      if (ann !== undefined) yield { ...ann, data: { ...ann.data, name: 'Anna' } } as CapturedEvent;
    }
    const { of, players } = createPseudonyms(await playersOf(renamed(), mapping, dispatchId), dispatchId);
    expect(players).toHaveLength(2);
    expect([of('Anna'), of('agent_001')]).toEqual([of('Ann Lee'), of('Ann Lee')]);
  });

  it('include those that the log only names: receivers of whispers, and players with roles', async () => {
    const roles = { events: ['game:role'] };
    async function* withRole(): AsyncGenerator<CapturedEvent> {
      yield* events;
      const [first] = events;
      if (first !== undefined)
        yield parseEvent({ ...first, type: 'game:role', data: { player: 'Cy', role: 'wolf' } });
      for (const event of events) {
        const { toolCallId, tool } = event.data as { toolCallId?: string; tool?: string };
        if (tool !== 'whisper') continue;
        const data = {
          ...event.data,
          toolCallId: `${toolCallId} again`,
          input: { message: 'Hi', to: 'Dee' },
        };
        yield { ...event, data } as CapturedEvent;
      }
    }
    const players = await playersOf(withRole(), { ...mapping, roles }, dispatchId);
    expect(players.map(({ name }) => name)).toEqual(['Ann Lee', 'Ben', 'Cy', 'Dee']);
  });
});
