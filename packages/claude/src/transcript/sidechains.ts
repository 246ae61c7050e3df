import type { JsonObject } from '@hansard/events';
import type { SubAgent, SubAgents } from '../mapping/sub-agents.ts';
import { asBlocks } from '../messages/map-block.ts';
import { asName, asObject } from '../values/json-fields.ts';
import { RecentMap } from '../values/recent-map.ts';
import type { Launches } from './launches.ts';

const mostRemembered = 10_000;

/**
 * Finds the agent of a sidechain record. Newer records name their agent. Older ones are threads among the records of the
 * session; each thread starts with a prompt without a parent and is an agent of its own, named by its first record.
 */
export class Sidechains {
  readonly #agents: SubAgents;
  readonly #launches: Launches;
  readonly #byRecord = new RecentMap<SubAgent>(mostRemembered);

  constructor(agents: SubAgents, launches: Launches) {
    this.#agents = agents;
    this.#launches = launches;
  }

  agentOf(record: JsonObject): SubAgent | undefined {
    if (record.isSidechain !== true) return undefined;
    const uuid = asName(record.uuid);
    const known = uuid === undefined ? undefined : this.#byRecord.get(uuid);
    if (known !== undefined) return known;
    const named = asName(record.agentId);
    const agent = named === undefined ? this.#ofThread(record) : this.#named(named, record);
    if (named === undefined && uuid !== undefined && agent !== undefined) this.#byRecord.set(uuid, agent);
    return agent;
  }

  #named(name: string, record: JsonObject): SubAgent | undefined {
    return this.#agents.find(name) ?? this.#agents.resolve(name, this.#callOf(record));
  }

  #ofThread(record: JsonObject): SubAgent | undefined {
    const parent = asName(record.parentUuid);
    const thread = parent === undefined ? undefined : this.#byRecord.get(parent);
    const name = `sidechain-${asName(record.uuid) ?? 'unknown'}`;
    return thread ?? this.#agents.resolve(name, this.#callOf(record));
  }

  /** The call that has the text of the record as its prompt. */
  #callOf(record: JsonObject): string | undefined {
    const [block] = asBlocks(asObject(record.message)?.content) ?? [];
    const prompt = asName(asObject(block)?.text);
    if (prompt === undefined || record.type !== 'user') return undefined;
    return this.#launches.take(prompt, (call) => this.#agents.find(undefined, call) === undefined);
  }
}
