import type { ContextPolicy, FadedPolicy, LastMessagesPolicy } from './context-policy.ts';
import type { ContextZones } from './history/context-zones.ts';

/** The tokens of the messages that are not in a group. */
export interface FixedTokens {
  readonly summary: number;
  /** Of the note with the number of messages that are not shown. */
  readonly note: number;
}

/** The share of each zone in the tokens of the groups that can fade. */
const shares = { high: 0.5, medium: 0.25, low: 0.25 } as const;

const fadingZones = ['high', 'medium', 'low'] as const;

/** Moves groups to lower zones until the policy holds. The result depends on the events only, never on when a prompt was rendered. */
export function fitContext(zones: ContextZones, policy: ContextPolicy, fixed: FixedTokens): void {
  if (policy.name === 'lastMessages') dropOldest(zones, policy);
  if (policy.name === 'faded') fade(zones, policy, fixed);
}

/** The tokens of the prompt. At most `limitOf` the policy, if it fits. */
export function tokensIn(zones: ContextZones, { summary, note }: FixedTokens): number {
  const shown = zones.tokens('high') + zones.tokens('medium') + zones.tokens('low');
  return zones.systemTokens + summary + shown + (zones.messages('omitted') > 0 ? note : 0);
}

export function limitOf({ budget, reserve = 0 }: FadedPolicy): number {
  return budget - reserve;
}

function dropOldest(zones: ContextZones, { count, step = 1 }: LastMessagesPolicy): void {
  if (zones.messages('high') <= count) return;
  while (zones.messages('high') > count - step + 1 && zones.lower('high')) {
    zones.lower('medium');
    zones.lower('low');
  }
}

function fade(zones: ContextZones, policy: FadedPolicy, fixed: FixedTokens): void {
  const limit = limitOf(policy);
  zones.squeeze(false);
  if (tokensIn(zones, fixed) <= limit) return;
  const { newestTokens } = zones;
  const unfaded = zones.systemTokens + fixed.summary + fixed.note + newestTokens;
  const target = Math.max(0, limit - unfaded) * (1 - (policy.step ?? 0.25));
  while (fadedTokens(zones, newestTokens) > target && lowerFullest(zones, newestTokens));
  if (tokensIn(zones, fixed) > limit) zones.squeeze(true);
}

function fadedTokens(zones: ContextZones, newestTokens: number): number {
  return zones.tokens('high') + zones.tokens('medium') + zones.tokens('low') - newestTokens;
}

/** Fades the oldest group of the zone that exceeds its share most. False: no group can fade further. */
function lowerFullest(zones: ContextZones, newestTokens: number): boolean {
  const byFullness = fadingZones
    .map((zone) => ({
      zone,
      fullness: (zones.tokens(zone) - (zone === 'high' ? newestTokens : 0)) / shares[zone],
    }))
    .sort((one, other) => other.fullness - one.fullness);
  return byFullness.some(({ zone }) => zones.lower(zone));
}
