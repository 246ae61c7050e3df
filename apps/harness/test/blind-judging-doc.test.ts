import { readFileSync } from 'node:fs';
import { createPseudonyms, parseGameMapping, playersOf } from '@hansard/datasets';
import { newEvent, parseEvent } from '@hansard/events';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const page = readFileSync(`${import.meta.dirname}/../../../docs/blind-judging.md`, 'utf8');
const mapping = parseGameMapping(parse(/```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? ''));
const [, table = ''] = page.split('| text | in a packet |\n|---|---|\n');
const rows = (table.split('\n\n')[0] ?? '').split('\n').map((line) => line.slice(2, -2).split(' | '));

async function* log() {
  for (const [at, name] of ['Ewa Nowak', 'Plume', 'Player 3: teal', 'Overseer'].entries()) {
    const created = newEvent('agent:created', { name }, { agentId: `agent_00${at}` });
    yield parseEvent({ ...created, id: `event-${at}`, timestamp: '2026-03-01T09:30:01.000Z' });
  }
}

describe('the page about blind judging', () => {
  it('has a mapping and at least seven texts', () => {
    expect(Object.keys(mapping.names.players)).toEqual(['Ewa Nowak']);
    expect(rows.length).toBeGreaterThanOrEqual(7);
  });

  it.each(rows)('is right about %j', async (text = '', packed = '') => {
    const players = await playersOf(log(), mapping, 'D1');
    const { hide, of } = createPseudonyms(players, 'D1', { names: mapping.names });
    expect(hide(text).text).toBe(packed.replace(/<([^>]+)>/g, (_, name: string) => of(name)));
  });

  it('is right about the player with all kinds of names', () => {
    const name = "Dr. Zoë O'Neil-Løvgren";
    const { hide } = createPseudonyms([{ name, alsoCalled: [] }], 'D1');
    const [, kinds = ''] = page.split("for the player `Dr. Zoë O'Neil-Løvgren` |\n|---|---|\n");
    const cells = (kinds.split('\n\n')[0] ?? '').split('\n').map((line) => line.split(' | ')[1] ?? '');
    const spellings = cells.flatMap((cell) => (/ of `/.test(cell) ? [] : [...cell.matchAll(/`([^`]+)`/g)]));
    expect(spellings.length).toBeGreaterThanOrEqual(10);
    for (const [, spelling = ''] of spellings) expect(hide(spelling).text, spelling).toMatch(/^P1(?:'s|s)?$/);
  });
});
