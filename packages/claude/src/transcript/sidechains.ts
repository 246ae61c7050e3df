import type { JsonObject } from '@hansard/events';
import type { SubAgent, SubAgents } from '../mapping/sub-agents.ts';
import { asName } from '../values/json-fields.ts';
import { RecentMap } from '../values/recent-map.ts';

const mostRemembered = 10_000;

/**
 * Finds the agent of a sidechain record. Newer records name their agent. Older ones are threads among the records of the
 * session; each thread starts with a prompt without a parent and is an agent of its own, named by its first record. No record
 * names the call that started it.
 */
export class Sidechains {
  readonly #agents: SubAgents;
  readonly #byRecord = new RecentMap<SubAgent>(mostRemembered);

  constructor(agents: SubAgents) {
    this.#agents = agents;
  }

  agentOf(record: JsonObject): SubAgent | undefined {
    if (record.isSidechain !== true) return undefined;
    const uuid = asName(record.uuid);
    const known = uuid === undefined ? undefined : this.#byRecord.get(uuid);
    if (known !== undefined) return known;
    const named = asName(record.agentId);
    const agent = named === undefined ? this.#ofThread(record) : this.#named(named);
    if (named === undefined && uuid !== undefined && agent !== undefined) this.#byRecord.set(uuid, agent);
    return agent;
  }

  #named(name: string): SubAgent | undefined {
    return this.#agents.find(name) ?? this.#agents.resolve(name, undefined);
  }

  #ofThread(record: JsonObject): SubAgent | undefined {
    const parent = asName(record.parentUuid);
    const thread = parent === undefined ? undefined : this.#byRecord.get(parent);
    const name = `sidechain-${asName(record.uuid) ?? 'unknown'}`;
    return thread ?? this.#agents.resolve(name, undefined);
  }
}
