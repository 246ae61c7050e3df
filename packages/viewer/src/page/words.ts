import type { DispatchEnvelope } from '@hansard/events';

/** `2026-03-01 09:30:00`, UTC. */
export function timeText(time: number | string | null): string {
  if (time === null) return '';
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 19).replace('T', ' ');
}

/** `09:30:00.123`, UTC. */
export function clockText(time: number | null): string {
  return time === null ? '' : new Date(time).toISOString().slice(11, 23);
}

export function countText(count: number): string {
  return count.toLocaleString('en-GB');
}

export function costText({ cost }: DispatchEnvelope): string {
  return cost === null ? '' : dollars(cost);
}

/** `$1.25`, `$0.003`. */
export function dollars(cost: number): string {
  return `$${cost.toFixed(cost > 0 && cost < 0.1 ? 3 : 2)}`;
}

/** One of eight colours, always the same one for an agent. */
export function colourOf(agentId: string): number {
  let hash = 7;
  for (const character of agentId) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 104_729;
  return hash % 8;
}

/** `0.8 s`, `3 min 5 s`. */
export function durationText(milliseconds: number | null): string {
  if (milliseconds === null) return '';
  const seconds = milliseconds / 1_000;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
