import { type DispatchStore, openTaskSource } from '@hansard/dispatch';
import type { DispatchEnvelope } from '@hansard/events';
import { traceDispatches } from '@hansard/traces';
import { type DispatchTreeNode, dispatchTree, sessionFacts } from '@hansard/views';
import { expect } from 'vitest';
import { addAll, logsOf, type Spent, spentBy, spentIn, spentOnCalls } from './spending-oracle.ts';

/** Expects that envelopes, tree, views and trace of a task all have what its events add up to. Returns how many figures were compared. */
export async function expectAgreement(store: DispatchStore, taskDir: string, where: string): Promise<number> {
  const logs = await logsOf(store, taskDir);
  const spent = new Map(logs.map(({ envelope, events }) => [envelope.dispatchId, spentIn(events)]));
  const envelopes = logs.map(({ envelope }) => envelope);
  const { dispatches, calls } = await traced(store, taskDir);
  for (const { envelope, events } of logs) {
    const { dispatchId } = envelope;
    const own = spent.get(dispatchId) as Spent;
    const place = `${where}, ${dispatchId}`;
    expect(spentBy(envelope), `the envelope: ${place}`).toEqual(own);
    const view = sessionFacts(envelope, events);
    const shown = spentBy({ ...envelope, cost: view.costUsd, usage: view.usage });
    expect(shown, `the view: ${place}`).toEqual(own);
    expect(dispatches.get(dispatchId), `the span of the dispatch: ${place}`).toEqual({
      cost: own.cost,
      tokens: own.tokens,
    });
    expect(calls.get(dispatchId) ?? { cost: null, tokens: null }, `the spans of its calls: ${place}`).toEqual(
      spentOnCalls(events),
    );
  }
  const nodes = all(dispatchTree(envelopes));
  expect(nodes, `the tree: ${where}`).toHaveLength(logs.length);
  for (const { envelope, own, subtree } of nodes) {
    const place = `the tree: ${where}, ${envelope.dispatchId}`;
    expect(figuresOf(own), place).toEqual(figuresIn([spent.get(envelope.dispatchId) as Spent]));
    const below = envelopes.filter((other) => isBelow(other, envelope.dispatchId, envelopes));
    const family = [envelope, ...below].map(({ dispatchId }) => spent.get(dispatchId) as Spent);
    expect(figuresOf(subtree), place).toEqual(figuresIn(family));
  }
  return logs.length * 4 + nodes.length * 2;
}

interface Figures {
  readonly costUsd: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

function figuresOf({ costUsd, inputTokens, outputTokens }: Figures): Figures {
  return { costUsd, inputTokens, outputTokens };
}

function figuresIn(family: readonly Spent[]): Figures {
  return {
    costUsd: addAll(family.map(({ cost }) => cost)),
    inputTokens: addAll(family.map(({ tokens }) => tokens?.[0])),
    outputTokens: addAll(family.map(({ tokens }) => tokens?.[1])),
  };
}

function all(nodes: readonly DispatchTreeNode[]): DispatchTreeNode[] {
  return nodes.flatMap((node) => [node, ...all(node.children)]);
}

function isBelow(
  { parentDispatchId }: DispatchEnvelope,
  dispatchId: string,
  envelopes: readonly DispatchEnvelope[],
): boolean {
  if (parentDispatchId === null || parentDispatchId === dispatchId) return parentDispatchId === dispatchId;
  const parent = envelopes.find((envelope) => envelope.dispatchId === parentDispatchId);
  return parent !== undefined && isBelow(parent, dispatchId, envelopes);
}

type Traced = Pick<Spent, 'cost' | 'tokens'>;

/** The figures of the dispatches and the sums of the model calls in the trace of a task, by dispatch. */
async function traced(store: DispatchStore, taskDir: string) {
  const dispatches = new Map<string, Traced>();
  const calls = new Map<string, Traced>();
  for await (const record of traceDispatches(await openTaskSource(store, taskDir))) {
    if (record.kind !== 'span') continue;
    const { attributes } = record.span;
    const number = (name: string) => attributes[name] as number | undefined;
    const own = attributes['hansard.dispatch.id'] as string | undefined;
    if (own !== undefined) dispatches.set(own, totalsOf(number));
    const input = number('gen_ai.usage.input_tokens');
    if (input === undefined) continue;
    const id = String(attributes['gen_ai.conversation.id']);
    const before = calls.get(id);
    const cached = [
      number('gen_ai.usage.cache_read.input_tokens') ?? 0,
      number('gen_ai.usage.cache_creation.input_tokens') ?? 0,
    ] as const;
    // The input of the conventions includes what was read from the cache and written to it.
    const more = [
      input - cached[0] - cached[1],
      number('gen_ai.usage.output_tokens') ?? 0,
      ...cached,
    ] as const;
    const [a, b, c, d] = before?.tokens ?? [0, 0, 0, 0];
    calls.set(id, {
      cost: addAll([before?.cost, number('hansard.cost_usd')]),
      tokens: [a + more[0], b + more[1], c + more[2], d + more[3]],
    });
  }
  return { dispatches, calls };
}

function totalsOf(number: (name: string) => number | undefined): Traced {
  const tokens = (name: string) => number(`hansard.dispatch.usage.${name}_tokens`);
  const input = tokens('input');
  return {
    cost: number('hansard.dispatch.cost_usd') ?? null,
    tokens:
      input === undefined
        ? null
        : [input, tokens('output') ?? 0, tokens('cache_read') ?? 0, tokens('cache_write') ?? 0],
  };
}
