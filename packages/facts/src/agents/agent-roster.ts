import type { CapturedEvent } from '@hansard/events';
import { isReadableAs } from '@hansard/events/plain';

/** An agent of a dispatch, as its events name it. */
export interface NamedAgent {
  /** '' for the dispatched agent itself. */
  readonly agentId: string;
  readonly name: string | null;
}

/** What the dispatched agent is called, if it has no name. */
const dispatched = 'dispatched agent';

/** The agents of one dispatch, given its events one by one. It grows with the agents alone. */
export class AgentRoster {
  readonly #names = new Map<string, string | null>();
  readonly #role: string | null;

  /** `role`: that of the dispatch, which also names the dispatched agent. */
  constructor(role: string | null = null) {
    this.#role = role;
  }

  learn(event: CapturedEvent): void {
    const { agentId = '' } = event;
    if (!this.#names.has(agentId)) this.#names.set(agentId, null);
    if (event.type !== 'agent:created' || this.#names.get(agentId) !== null) return;
    if (isReadableAs(event, 'agent:created')) this.#names.set(agentId, event.data.name ?? null);
  }

  /** In the order of their first events. */
  get agents(): readonly NamedAgent[] {
    return [...this.#names].map(([agentId, name]) => ({ agentId, name }));
  }

  /** The agent with an id, the end or the beginning of one, or a name: see `findNamed`. */
  find(wanted: string): NamedAnswer<NamedAgent> {
    return findNamed(this.agents, wanted, ({ agentId, name }) => ({
      id: agentId,
      names: agentId === '' ? [name, this.#role, dispatched] : [name],
    }));
  }

  /** An agent as an error lists it: its name and id. */
  label({ agentId, name }: NamedAgent): string {
    if (agentId === '') return name ?? this.#role ?? dispatched;
    return name === null ? agentId : `${name} (${agentId})`;
  }
}

/** What a thing can be called. */

/** The thing that a text names, or the things that it can mean. */
export type NamedAnswer<T> =
  | { readonly kind: 'found'; readonly item: T }
  | { readonly kind: 'ambiguous'; readonly items: readonly T[] }
  | { readonly kind: 'unknown' };

/**
 * Finds the thing that a text names. The first of these rules that fits anything decides, and is ambiguous if it fits several: the
 * whole id, a whole name, a whole name ignoring case, the end of an id, its beginning, the beginning of a name ignoring case.
 */
export function findNamed<T>(
  items: readonly T[],
  wanted: string,
  namesOf: (item: T) => {
    readonly id: string;
    /** Its names, titles and labels, as people know it. */
    readonly names?: readonly (string | null)[];
  },
): NamedAnswer<T> {
  const lower = wanted.toLowerCase();
  const named = items.map((item) => ({ item, ...namesOf(item) }));
  type Candidate = (typeof named)[number];
  const hasName = (fits: (name: string) => boolean) => (candidate: Candidate) =>
    (candidate.names ?? []).some((name) => name !== null && name !== '' && fits(name));
  const whole = [
    ({ id }: Candidate) => id === wanted,
    hasName((name) => name === wanted),
    hasName((name) => name.toLowerCase() === lower),
  ];
  const parts = [
    ({ id }: Candidate) => id.endsWith(wanted),
    ({ id }: Candidate) => id.startsWith(wanted),
    hasName((name) => name.toLowerCase().startsWith(lower)),
  ];
  // Every id begins and ends with an empty text.
  for (const rule of wanted === '' ? whole : [...whole, ...parts]) {
    const [first, ...others] = named.filter(rule);
    if (first === undefined) continue;
    if (others.length === 0) return { kind: 'found', item: first.item };
    return { kind: 'ambiguous', items: [first, ...others].map(({ item }) => item) };
  }
  return { kind: 'unknown' };
}
