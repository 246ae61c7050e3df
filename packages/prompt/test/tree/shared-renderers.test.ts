import type { CapturedEvent, JsonObject } from '@hansard/events';
import { branchedLog } from '@hansard/testing';
import { importMutated } from '@hansard/testing/mutants';
import { describe, expect, it } from 'vitest';
import { renderCalls, TranscriptTree } from '../../src/index.ts';

const home = new URL('../..', import.meta.url).pathname;
type Render = typeof renderCalls;
type Piece = readonly [file: string, piece: string, instead: string];
const tree = 'tree/transcript-tree.ts';
const calls = 'context/render-calls.ts';

const rendererOf = async (piece: Piece) =>
  ((await importMutated(home, piece, 'index.ts')) as { renderCalls: Render }).renderCalls;

/** Compares every path whole, as if no call could continue the one before. */
const slow: Piece = [tree, 'if (to.agent !== agent ||', 'if (true || to.agent !== agent ||'];

function shown(render: Render, events: readonly CapturedEvent[]): string[] {
  const rendered: string[] = [];
  for (const { inference, messages, added, manifest, basis } of render(events))
    rendered.push(JSON.stringify([inference.id, basis, messages, added, manifest]));
  return rendered;
}

/** In one of three logs the calls have manifests. */
function logOf(seed: number): readonly CapturedEvent[] {
  const { events } = branchedLog({ seed, length: 60, isPlain: seed % 2 === 0 });
  if (seed % 3 !== 0) return events;
  const manifests = new Map(
    [...renderCalls(events)].map(({ inference, manifest }) => [inference.id, manifest]),
  );
  return events.map((event) => {
    const context = manifests.get(event.id) as unknown as JsonObject | undefined;
    return context === undefined ? event : { ...event, data: { ...event.data, context } };
  });
}

/** The seeds whose calls are rendered otherwise than by whole comparisons. */
function different(render: Render, whole: Render, most = Number.POSITIVE_INFINITY): number[] {
  const found: number[] = [];
  for (let seed = 1; seed <= 500 && found.length < most; seed += 1) {
    const events = logOf(seed);
    let answers: string[];
    try {
      answers = shown(render, events);
    } catch (error) {
      answers = [String(error)];
    }
    if (JSON.stringify(answers) !== JSON.stringify(shown(whole, events))) found.push(seed);
  }
  return found;
}

describe('calls on a branch that share a renderer', () => {
  it('are rendered as if each path were compared whole (500 random trees)', async () => {
    expect(different(renderCalls, await rendererOf(slow))).toEqual([]);
  });

  it.each<Piece>([
    [tree, "if (kind === 'rewind') return null;", ''],
    [tree, 'else if (isEntry(place) && messageId !== undefined) return null;', ''],
    [tree, 'number > from.retractedThrough && number <= to.retractedThrough', 'false'],
    [calls, 'known.path.values.push(...added);', ''],
    [calls, 'known.mark = mark;', ''],
  ])('a mutant of %s without "%s" is caught', async (...piece) => {
    expect(different(await rendererOf(piece), await rendererOf(slow), 1)).not.toEqual([]);
  });

  it('mostly continue the call before', () => {
    let [all, goOn] = [0, 0];
    for (let seed = 1; seed <= 100; seed += 1) {
      const events = logOf(seed);
      const made = new TranscriptTree<CapturedEvent>();
      for (const event of events) made.add(event, event);
      const answers = events.filter(
        ({ type, agentId = '' }) => type === 'agent:text' && !made.isStraight(agentId),
      );
      for (const [at, { id, agentId }] of answers.entries()) {
        const before = answers.slice(0, at).findLast((one) => one.agentId === agentId);
        const [from, to] = [made.markBefore(before?.id ?? ''), made.markBefore(id)];
        if (from === null || to === null) continue;
        all += 1;
        if (made.addedBetween(from, to, new Set()) !== null) goOn += 1;
      }
    }
    expect(goOn / all).toBeGreaterThan(0.2);
  });
});
