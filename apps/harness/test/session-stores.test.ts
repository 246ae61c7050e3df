import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CapturedEvent } from '@hansard/events';
import type { DispatchStoreProvider } from '@hansard/provider';
import { openJsonFileStore } from '@hansard/store-jsonfile';
import { openSqliteStore } from '@hansard/store-sqlite';
import {
  agentTree,
  causesOf,
  createLogIndex,
  deliveryDiffs,
  dialogOf,
  effectsOf,
  hearingMatrix,
  interventionsOf,
  knownBy,
  neverHeard,
  perspectiveOf,
  renderAgentTree,
  renderCauses,
  renderDeliveryDiffs,
  renderDialog,
  renderHearing,
  renderInterventions,
  renderKnown,
  renderNeverHeard,
  renderPerspective,
  renderSessionView,
  renderTimeline,
  taskTimeline,
} from '@hansard/views';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Played, playScenario, taskDir } from './play-scenario.ts';

const folder = mkdtempSync(join(tmpdir(), 'hansard-same-session-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Stores that a new process finds again where an old one left them. */
const durable: Readonly<Record<string, () => DispatchStoreProvider>> = {
  'JSON-file': () => openJsonFileStore({ root: join(folder, 'files') }),
  SQLite: () => openSqliteStore({ path: join(folder, 'log.db') }),
};

let inMemory: Played;
beforeAll(async () => {
  inMemory = await playScenario('cafe');
});

it('a session played twice with the same clock and ids is the same, event by event', async () => {
  expect((await playScenario('cafe')).events).toEqual(inMemory.events);
});

it('every view of the session has something to show', async () => {
  const views = await renderEverything(inMemory.events);
  expect(views.dialog).toContain("I'm Jill");
  expect(views.matrix).toContain('altered');
  expect(views.hooks).toContain('Discretion');
  expect(views.diffs).toContain('4711');
  expect(views.agents).toContain('Inner');
  // And the day.
  expect(views.timeline.split('\n')).toHaveLength(inMemory.events.length + 1);
  expect(Object.keys(views).filter((name) => name.startsWith('perspective'))).toHaveLength(4);
  for (const [name, text] of Object.entries(views)) expect(text, name).not.toBe('');
});

describe.each(Object.entries(durable))('the same session in the %s store', (_name, open) => {
  let played: Played;
  beforeAll(async () => {
    const store = open();
    played = await playScenario('cafe', store);
    await store.close();
  });

  it('is the same events and the same envelope as in memory', () => {
    expect(played.events).toEqual(inMemory.events);
    expect(played.envelope).toEqual(inMemory.envelope);
  });

  it('is the same, opened again', async () => {
    const store = open();
    try {
      expect(await store.getDispatchEvents(taskDir, 'D1')).toEqual(inMemory.events);
      expect(await store.getDispatchEnvelope(taskDir, 'D1')).toEqual(inMemory.envelope);
    } finally {
      await store.close();
    }
  });

  it('gives every view as memory gives it, to the letter', async () => {
    const store = open();
    try {
      const events = await store.getDispatchEvents(taskDir, 'D1');
      expect(await renderEverything(events)).toEqual(await renderEverything(inMemory.events));
      const remembered = {
        getDispatchEnvelope: async () => inMemory.envelope,
        getDispatchEvents: async () => inMemory.events,
      };
      expect(await renderSessionView(store, taskDir, 'D1')).toBe(
        await renderSessionView(remembered, taskDir, 'D1'),
      );
    } finally {
      await store.close();
    }
  });
});

/** Each view of a session as it is shown, by its name. */
async function renderEverything(events: readonly CapturedEvent[]) {
  const timeline: string[] = [];
  const source = { envelope: inMemory.envelope, pages: () => [events] };
  for await (const text of renderTimeline(taskTimeline([source]))) timeline.push(text);
  const index = createLogIndex(events);
  const agents = [...index.agents.keys()];
  const perAgent = agents.flatMap((agent): [string, string][] => [
    [`perspective of ${agent}`, renderPerspective(index, perspectiveOf(index, agent))],
    [`known by ${agent}`, renderKnown(index, knownBy(index, agent))],
  ]);
  const perEvent = events.flatMap(({ id }): [string, string][] => [
    [`why ${id}`, renderCauses(index, causesOf(index, id))],
    [`effects ${id}`, renderCauses(index, effectsOf(index, id))],
  ]);
  const said = index.sayings.map(({ id }) => id);
  return {
    dialog: renderDialog(index, dialogOf(index, agents)),
    matrix: renderHearing(index, hearingMatrix(index)),
    diffs: said.map((id) => renderDeliveryDiffs(index, deliveryDiffs(index, id))).join('\n'),
    unheard: said.map((id) => renderNeverHeard(neverHeard(index, id))).join('\n'),
    agents: renderAgentTree(agentTree(index)),
    hooks: renderInterventions(index, interventionsOf(index)),
    timeline: timeline.join('\n'),
    ...Object.fromEntries(perAgent),
    ...Object.fromEntries(perEvent),
  };
}
