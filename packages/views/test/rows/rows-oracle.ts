import type { Row, RowPart } from '../../src/index.ts';
import type { RandomLog, TrueRow } from './random-log.ts';

/** Where rows are not what happened, in words. */
export function wrongRows(rows: readonly Row[], { rows: truth, events }: RandomLog): string[] {
  const wrong: string[] = [];
  const expected = truth.toSorted((one, other) => firstOf(one) - firstOf(other));
  if (rows.length !== expected.length) wrong.push(`${rows.length} rows instead of ${expected.length}`);
  for (const [at, row] of rows.entries()) {
    const should = expected[at];
    if (should === undefined) break;
    const check = (what: string, is: unknown, right: unknown) => {
      if (JSON.stringify(is) !== JSON.stringify(right))
        wrong.push(`${what} of row ${at}: ${JSON.stringify(is)} instead of ${JSON.stringify(right)}`);
    };
    check('position', row.position, firstOf(should));
    check('id', row.id, events[firstOf(should)]?.id);
    check('kind', row.kind, should.kind);
    check('agent', row.agent.agentId, should.agentId);
    check(
      'events',
      row.events,
      should.events.toSorted((one, other) => one - other),
    );
    check('status', row.status, should.kind === 'call' ? should.status : row.status);
    check('failure', row.isFailed, should.isFailed);
    check('heard', row.heard?.map(({ agent, how }) => [agent.agentId, how]) ?? [], should.heard);
    check('folded', row.folded?.length ?? 0, should.folded);
    const shown = shownTexts(row);
    const all = shown.join('\n');
    for (const text of should.texts) if (!all.includes(text)) wrong.push(`row ${at} lacks ${text}`);
    const recorded = row.events.map((position) => JSON.stringify(events[position])).join('\n');
    for (const text of shown)
      for (const word of text.match(/word\d+/g) ?? [])
        if (!new RegExp(`${word}\\b`).test(recorded)) wrong.push(`row ${at} invents ${word}`);
  }
  return wrong;
}

function firstOf({ events }: TrueRow): number {
  return Math.min(...events);
}

function shownTexts({ content, call, heard = [], folded = [] }: Row): string[] {
  const differences = heard.map(({ text }) => text ?? '');
  return [
    ...[...content, ...(call?.outcome ?? [])].flatMap(textsOf),
    ...differences,
    ...folded.map(({ text }) => text),
  ];
}

function textsOf(part: RowPart): string[] {
  switch (part.kind) {
    case 'text':
      return [part.text];
    case 'diff':
      return part.lines.map(({ text }) => text);
    case 'json':
      return [JSON.stringify(part.value)];
    case 'fields':
      return part.fields.map(([, value]) => value);
    case 'media':
      return [];
  }
}
