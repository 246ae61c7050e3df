import { readdirSync } from 'node:fs';
import { dirname, parse } from 'node:path';
import { readScenario } from '@hansard/model-scripted';
import {
  type AgentTreeNode,
  agentNamed,
  agentTree,
  causesOf,
  type DialogRow,
  dialogOf,
  effectsOf,
  type HearingRow,
  hearingMatrix,
  interventionsOf,
  knownBy,
  type LogIndex,
  neverHeard,
  perspectiveOf,
} from '@hansard/views';
import { describe, expect, it } from 'vitest';
import { playScenario, scenarioPath } from './play-scenario.ts';

const names = readdirSync(dirname(scenarioPath('cafe'))).map((file) => parse(file).name);

describe.each(names)('the scenario %s', (name) => {
  it('plays to its end, with every line that it holds in the log and nothing odd', async () => {
    const { user, agents } = await readScenario(scenarioPath(name));
    const { envelope, events, index, answers } = await playScenario(name);

    expect(envelope).toMatchObject({ status: 'completed', fidelity: 'full', structuredResult: null });
    expect(events.at(-1)).toMatchObject({
      type: 'session:complete',
      data: { status: 'completed', result: answers.at(-1) },
    });
    expect(index.diagnostics).toEqual([]);
    expect(events.filter(({ type }) => type === 'harness:error')).toEqual([]);

    const said = dialogOf(index, [...index.agents.keys()]).map(({ text }) => text);
    // Turns that repeat are for lines that are typed.
    const written = Object.values(agents).flatMap((turns) =>
      turns.flatMap(({ say, repeat }) => (say === undefined || repeat ? [] : say)),
    );
    expect(said).toEqual(expect.arrayContaining(written));
    const heardByRoot = perspectiveOf(index, root(index)).filter(({ from }) => from?.kind !== 'agent');
    expect(heardByRoot.filter(({ kind }) => kind === 'heard').map(({ text }) => text)).toEqual(
      user.map(({ text }) => text),
    );
    expect(answers).toHaveLength(user.length);
  });
});

describe('the café', () => {
  it('lets Jill hear Jack without the number, and nobody but Jill hear her inner voice', async () => {
    const { index } = await playScenario('cafe');
    expect(cellsOf(index, "Hello, I'm Jack")).toEqual({ root: 'wrapped', Jack: 'said', Jill: 'altered' });
    for (const line of ['You like that he trusts you', 'So do you. Say when.'])
      expect(cellsOf(index, line)).toEqual({ Jill: 'same', Inner: 'said' });
    expect(wordsOf(index, 'Jill')).not.toContain('4711');
    expect(interventionsOf(index)).toMatchObject([
      { hook: 'Discretion', on: 'delivery', decision: 'alter', effect: 'altered', reason: '1 replacement' },
    ]);
  });
});

describe('the debate', () => {
  it('lets each side hear every word of the other, and the chair all of both', async () => {
    const { index } = await playScenario('debate');
    const rows = dialogOf(index, ['Ada', 'Ben']);
    expect(speakersOf(index, rows)).toEqual(['root', 'Ada', 'Ben', 'Ada', 'Ben']);
    const other: Readonly<Record<string, string>> = { Ada: 'Ben', Ben: 'Ada' };
    for (const row of rows.slice(1)) {
      const cells = cellsOf(index, row.text);
      expect(cells[other[speakersOf(index, [row])[0] ?? ''] ?? '']).toBe('wrapped');
      expect(cells.Chair).toBe('wrapped');
    }
  });

  it('keeps the verdict of the chair from those who argued', async () => {
    const { index } = await playScenario('debate');
    expect(namesOf(neverHeard(index, find(index, 'Ben gave way').id))).toEqual(['Ada', 'Ben']);
    const verdict = find(index, 'Ben gave way');
    expect(knownBy(index, 'Chair', verdict.id)).toHaveLength(7);
  });
});

describe('the characters', () => {
  it('know their own messages and none that only the other one received', async () => {
    const { index } = await playScenario('characters');
    const key = find(index, 'behind the clock');
    const letter = find(index, 'a letter with your name');
    expect(namesOf(neverHeard(index, key.id))).toEqual(['Niece']);
    expect(namesOf(neverHeard(index, letter.id))).toEqual(['Butler']);
    expect(wordsOf(index, 'Niece')).not.toContain('clock');
    expect(wordsOf(index, 'Butler')).not.toContain('letter');
    expect(knownBy(index, 'Butler').map(({ text }) => text)).toContain(key.text);
  });

  it('hear each other all the same', async () => {
    const { index } = await playScenario('characters');
    const shared = dialogOf(index, ['Niece', 'Butler']).filter(({ kind }) => kind === 'utterance');
    expect(speakersOf(index, shared)).toEqual(['Niece', 'Butler', 'Niece', 'Butler']);
    for (const { audience } of shared) expect(audience).toHaveLength(1);
  });
});

describe('the event-driven agent', () => {
  it('is started by a message of a file watcher, which what it then does goes back to', async () => {
    const { index } = await playScenario('event-driven');
    const heard = perspectiveOf(index, root(index)).filter(({ kind }) => kind === 'heard');
    const watcher = { kind: 'external', what: 'file' };
    expect(heard.map(({ from }) => from)).toEqual([{ kind: 'user' }, watcher, watcher]);
    expect(heard[2]?.event).toMatchObject({ type: 'user:message', data: { source: watcher } });

    const effects = heard.map(({ id }) => effectsOf(index, id).map((row) => row.id));
    const order = find(index, 'Order 50 kg');
    expect(effects[2]).toContain(order.id);
    expect(effectsOf(index, order.id).map((row) => row.event.data.text)).toContain(
      'I have put flour on the list for today.',
    );
    const enough = find(index, 'enough for a week');
    expect([effects[1]?.includes(enough.id), effects[2]?.includes(enough.id)]).toEqual([true, false]);
  });

  it('acts only on a change: it does not order while there is enough flour', async () => {
    const { answers } = await playScenario('event-driven');
    expect(answers).toEqual([
      'I watch, and the analyst is ready.',
      'Nothing to do.',
      'I have put flour on the list for today.',
    ]);
  });
});

describe('the hook on resources', () => {
  it('denies the third sub-agent with a reason for the agent, and creates none', async () => {
    const { index, events } = await playScenario('resource-hook');
    const [denial, ...others] = interventionsOf(index);
    expect(others).toEqual([]);
    expect(denial).toMatchObject({
      hook: 'ResourceMonitor',
      on: 'tool_call',
      decision: 'deny',
      reason: 'Maximum subagents (2) already reached.',
      effect: 'stopped',
      subject: { text: expect.stringContaining('Searcher3') },
      outcome: { text: expect.stringContaining("Action blocked by hook 'ResourceMonitor'") },
      verdict: { text: 'DENY. Maximum subagents (2) already reached.' },
    });
    expect(treeOf(index)).toEqual({ root: { Searcher1: {}, Searcher2: {} }, ResourceMonitor: {} });
    expect(events.filter(({ type }) => type === 'agent:created')).toHaveLength(4);
    expect(wordsOf(index, root(index))).toContain('Maximum subagents (2) already reached.');
  });
});

describe('the steel man', () => {
  it('first contradicts, and after the advocate was heard it gives way', async () => {
    const { index, answers } = await playScenario('steel-man');
    expect(answers).toEqual([expect.stringContaining('You have a good reason')]);
    const before = find(index, 'I would advise against');
    const after = find(index, 'You have a good reason');
    const best = find(index, 'weighs each sentence');
    const knowsIt = (id: string) => knownBy(index, root(index), id).some(({ text }) => text === best.text);
    expect([knowsIt(before.id), knowsIt(after.id)]).toEqual([false, true]);
  });

  it('is reminded by the agent of a hook, whose words the advocate never hears', async () => {
    const { index, events } = await playScenario('steel-man');
    const reminder = find(index, 'best case for their side');
    expect(reminder.speaker).toMatchObject({ kind: 'agent', agentId: agentNamed(index, 'SteelMan').agentId });
    expect(namesOf(neverHeard(index, reminder.id))).toEqual(['Advocate']);
    expect(events.find(({ substance }) => substance === reminder.id)?.data.source).toMatchObject({
      hook: 'SteelMan',
    });
  });

  it('is what why finds behind the second answer', async () => {
    const { index } = await playScenario('steel-man');
    const because = causesOf(index, find(index, 'You have a good reason').id).map(
      ({ event }) => event.data.text,
    );
    const reminder = because.indexOf(
      'You disagree with the user. Let somebody make the best case for their side before you insist.',
    );
    expect(
      because.indexOf('root said: I would advise against that. You will overlook mistakes.'),
    ).toBeLessThan(reminder);
    expect(because.indexOf('I would advise against that. You will overlook mistakes.')).toBeGreaterThan(-1);
  });
});

describe('the long-term memory', () => {
  it('remembers a message two conversations later, and the answer uses what it adds', async () => {
    const { index, answers } = await playScenario('long-term-memory');
    const recalled = find(index, 'No nuts for Mia.');
    const known = knownBy(index, 'Memory', recalled.id).map(({ text }) => text);
    expect(known.filter((text) => text.startsWith('root received'))).toEqual([
      'root received: My daughter Mia must not eat nuts.',
      'root received: Mia likes everything that is purple.',
      'root received: Suggest a cake for her birthday.',
    ]);
    expect(answers[2]).toContain('no nuts');
    expect(cellsOf(index, recalled.text)).toEqual({ root: 'same', Memory: 'said' });
  });

  it('is heard only when something bears on the message', async () => {
    const { index } = await playScenario('long-term-memory');
    const heard = perspectiveOf(index, 'agent_001').filter(({ kind }) => kind === 'heard');
    expect(heard.map(({ text }) => text).filter((text) => text.startsWith('No'))).toHaveLength(1);
  });
});

describe('the Socratic teacher', () => {
  it('knows the goal from the beginning, says only questions, and the student never hears the goal', async () => {
    const { index } = await playScenario('socratic-teaching');
    const goal = find(index, 'The goal: it is the side lit');
    expect(namesOf(neverHeard(index, goal.id))).toEqual(['Student']);
    const taught = perspectiveOf(index, 'Teacher').filter(({ kind }) => kind === 'said');
    expect(taught).toHaveLength(3);
    for (const { text } of taught) expect(text).toMatch(/\?$/);
  });

  it('keeps its thoughts to itself, and the student finds the answer', async () => {
    const { index } = await playScenario('socratic-teaching');
    expect(perspectiveOf(index, 'Teacher').filter(({ kind }) => kind === 'thought')).toHaveLength(2);
    expect(wordsOf(index, 'Student')).not.toContain('There is no shadow of ours');
    const said = perspectiveOf(index, 'Student').filter(({ kind }) => kind === 'said');
    expect(said.at(-1)?.text).toContain('The half that the sun shines on');
  });
});

describe('strategy and tactics', () => {
  it('are two levels: the tactician is made by the strategist, and the root never speaks with it', async () => {
    const { index } = await playScenario('strategy-and-tactics');
    expect(treeOf(index)).toEqual({ root: { Strategist: { Tactician: {} } } });
    expect(dialogOf(index, [root(index), 'Tactician']).filter(({ audience }) => audience.length > 0)).toEqual(
      [],
    );
    for (const { kind, from } of perspectiveOf(index, 'Tactician'))
      if (kind === 'heard')
        expect(from?.kind === 'agent' ? labelOf(index, from.agentId) : from?.kind).toMatch(
          /^(Strategist|system)$/,
        );
  });

  it('change together: a new situation, a new goal, a new step', async () => {
    const { index } = await playScenario('strategy-and-tactics');
    const order = ['halved its prices.', 'The goal has changed', 'A breakfast for two', 'Sell a breakfast'];
    const positions = order.map((text) => find(index, text).position);
    expect(positions).toEqual(positions.toSorted((one, other) => one - other));
    expect(cellsOf(index, 'The goal has changed')).toEqual({ Strategist: 'said', Tactician: 'same' });
  });
});

/** The root, which has no name. */
function root(index: LogIndex): string {
  return agentTree(index)[0]?.agent.agentId ?? '';
}

function labelOf(index: LogIndex, agentId = ''): string {
  return agentId === root(index) ? 'root' : (index.agents.get(agentId)?.label ?? agentId);
}

/** The one thing said, first of all, that has these words in it. */
function find(index: LogIndex, words: string) {
  const found = index.sayings.find(({ text }) => text.includes(words));
  if (found === undefined) throw new Error(`nobody said ${words}`);
  return found;
}

/** Who heard these words, and how. */
function cellsOf(index: LogIndex, words: string): Record<string, string> {
  const row = hearingMatrix(index).rows.find(({ saying }: HearingRow) => saying.text.includes(words));
  return Object.fromEntries(
    [...(row?.cells ?? [])].map(([agentId, ways]) => [labelOf(index, agentId), ways.join(', ')]),
  );
}

function speakersOf(index: LogIndex, rows: readonly DialogRow[]): string[] {
  return rows.map(({ speaker }) => labelOf(index, speaker.agentId));
}

function namesOf(rows: ReturnType<typeof neverHeard>): (string | null)[] {
  return rows.map(({ agent }) => agent.name);
}

/** All that ever came to an agent's ears. */
function wordsOf(index: LogIndex, agent: string): string {
  return knownBy(index, agent)
    .map(({ text }) => text)
    .join('\n');
}

interface Family {
  readonly [name: string]: Family;
}

function treeOf(index: LogIndex, nodes: readonly AgentTreeNode[] = agentTree(index)): Family {
  return Object.fromEntries(
    nodes.map(({ agent, children }) => [labelOf(index, agent.agentId), treeOf(index, children)]),
  );
}
