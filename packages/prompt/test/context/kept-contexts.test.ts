import { event, randomFrom } from '@hansard/testing';
import { describe, expect, it } from 'vitest';
import { SharedMessages } from '../../src/context/shared-messages.ts';
import {
  type ContextMessage,
  createContextRenderer,
  type RenderedContext,
  renderCalls,
} from '../../src/index.ts';
import { hashOf, policies, seeds, texts } from './context-scenario.ts';
import { called, heard, observed, randomLog, result, said, words } from './make-agent-log.ts';

describe('a context that is kept', () => {
  it('has the messages of its moment, however late they are read', () => {
    for (const seed of seeds)
      for (const policy of policies) {
        const renderer = createContextRenderer({ policy, tokens: words });
        const kept: RenderedContext[] = [];
        for (const [index, next] of randomLog(seed, 200).entries()) {
          renderer.observe(next);
          if (index % 7 === seed) kept.push(renderer.render());
        }
        for (const { messages, added, manifest } of kept) {
          expect(hashOf(messages), `seed ${seed}, ${policy.name}, ${manifest.through}`).toBe(manifest.hash);
          expect(added.length).toBe(messages.length - manifest.prefix.messages);
          expect(added.every((message, at) => message === messages[manifest.prefix.messages + at])).toBe(
            true,
          );
        }
      }
  });

  it('is not changed by a later result, or by output that is left out later', () => {
    const renderer = createContextRenderer();
    const rendered = [heard('Go'), called('c1'), observed('seen'), result('c1', 'done'), said('I look')].map(
      (next) => {
        renderer.observe(next);
        return renderer.render();
      },
    );
    const interrupted = expect.stringMatching(/^interrupted/);
    expect(rendered.map(({ messages }) => texts(messages))).toEqual([
      ['Go'],
      ['Go', '', interrupted],
      ['Go', '', interrupted, 'seen'],
      ['Go', '', 'done', 'seen'],
      ['Go', '', 'done', 'I look'],
    ]);
    expect(rendered.map(({ added }) => texts(added))).toEqual([
      ['Go'],
      ['', interrupted],
      ['seen'],
      ['done', 'seen'],
      ['I look'],
    ]);
  });

  it('belongs to the caller: changing its messages changes no other context', () => {
    const renderer = createContextRenderer();
    renderer.observe(heard('one'));
    const first = renderer.render();
    renderer.observe(heard('two'));
    const second = renderer.render();
    (first.messages as ContextMessage[]).splice(0);
    (second.added as ContextMessage[]).splice(0);
    expect(texts(second.messages)).toEqual(['one', 'two']);
    expect(texts(renderer.render().messages)).toEqual(['one', 'two']);
    expect(second.messages).toBe(second.messages);
  });

  it('can be read for every call of a dispatch after all of them were rendered', () => {
    const inference = (messageId: string) =>
      event('agent:inference', { model: 'm', usage: { inputTokens: 1, outputTokens: 1 } }, { messageId });
    const events = [
      heard('one'),
      said('1', 'm-a'),
      inference('m-a'),
      heard('two'),
      said('2', 'm-b'),
      inference('m-b'),
      inference('m-b'),
    ];
    const calls = [...renderCalls(events)];
    expect(calls.map(({ messages }) => texts(messages))).toEqual([
      ['one'],
      ['one', '1', 'two'],
      ['one', '1', 'two'],
    ]);
    expect(calls.map(({ added }) => texts(added))).toEqual([['one'], ['1', 'two'], []]);
  });
});

describe('the messages that snapshots share', () => {
  const message = (number: number): ContextMessage => ({ role: 'user', text: `message ${number}` });

  /** All arrays in which snapshots store messages. */
  function heldBy(snapshots: readonly SharedMessages['snapshot'][]): Set<readonly ContextMessage[]> {
    const held = new Set<readonly ContextMessage[]>();
    for (const { last } of snapshots)
      for (let block = last; block !== null && !held.has(block.messages); block = block.before)
        held.add(block.messages);
    return held;
  }

  it('are stored once, not once for each snapshot', () => {
    const list = new SharedMessages();
    const snapshots = Array.from({ length: 1_000 }, (_, number) => {
      for (let more = 0; more < 3; more += 1) list.push(message(number * 3 + more));
      return list.snapshot;
    });
    const held = [...heldBy(snapshots)].map(({ length }) => length);
    expect(held.reduce((sum, length) => sum + length, 0)).toBe(3_000);
  });

  it('are copied only near the end, if the end of the list changes', () => {
    const list = new SharedMessages();
    for (let number = 0; number < 10_000; number += 1) list.push(message(number));
    const before = heldBy([list.snapshot]);
    const random = randomFrom(1);
    for (let change = 0; change < 200; change += 1) {
      const known = heldBy([list.snapshot]);
      list.cut(list.length - 1 - Math.floor(random() * 3));
      for (let more = 0; more < 3; more += 1) list.push(message(change));
      const made = [...heldBy([list.snapshot])].filter((messages) => !known.has(messages));
      expect(made.length).toBeLessThanOrEqual(2);
      expect(Math.max(0, ...made.map(({ length }) => length))).toBeLessThanOrEqual(64);
    }
    const shared = [...heldBy([list.snapshot])].filter((messages) => before.has(messages));
    expect(shared.length).toBeGreaterThan(150);
  });
});
