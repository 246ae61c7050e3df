import { fitColumns, type MessageFlow } from '@hansard/views';
import { escapeHtmlInLine } from '../html-text.ts';
import { colourOf } from './page-rows.ts';

/** Pixels. */
const lane = 110;
const line = 26;
const head = 30;
const left = 46;
const textWidth = 520;
const mostOfText = 70;
const mostOfLabel = 14;

const classes = { same: 'heard', wrapped: 'heard', altered: 'other', withheld: 'stopped' } as const;

/**
 * The flow of messages as a drawing: a lane for each speaker and hearer, and a line for each saying, which leads to its row.
 * `scope` begins the anchors of the dispatch.
 */
export function* flowDiagram({ lanes, steps }: MessageFlow, scope: string): Generator<string> {
  const height = head + steps.length * line + 10;
  const width = left + lanes.length * lane + textWidth;
  const colour = (at: number) => {
    const agentId = lanes[at]?.agentId;
    return agentId == null ? '' : ` a${colourOf(agentId)}`;
  };
  const xOf = (at: number) => left + at * lane + lane / 2;
  yield `<div class="scroll"><svg class="flow" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="Who said what to whom">\n`;
  for (const [at, { label }] of lanes.entries()) {
    yield `<text class="lane${colour(at)}" x="${xOf(at)}" y="18">${drawn(label, mostOfLabel)}</text><path class="rail" d="M${xOf(at)} ${head - 4}V${height}"/>\n`;
  }
  for (const [at, { position, from, to, notKnown, text }] of steps.entries()) {
    const y = head + at * line + line / 2;
    const arrows = to
      .filter((one) => one.lane !== from)
      .map(({ lane: end, how }) => {
        const x = xOf(end);
        const side = x > xOf(from) ? -1 : 1;
        const tip =
          how === 'withheld'
            ? `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`
            : `M${x + side * 7} ${y - 4}L${x} ${y}l${side * 7} 4`;
        return `<path class="${classes[how]}" d="M${xOf(from)} ${y}H${x}${tip}"><title>${how}</title></path>`;
      });
    const unknown = notKnown.map((end) => `<text class="unknown" x="${xOf(end)}" y="${y + 4}">?</text>`);
    const link = `<a href="#${scope}-${position}"><text class="place" x="${left - 8}" y="${y + 4}">${position}</text></a>`;
    yield `<g>${link}${arrows.join('')}<circle class="said${colour(from)}" cx="${xOf(from)}" cy="${y}" r="4"/>${unknown.join('')}<text x="${left + lanes.length * lane + 8}" y="${y + 4}">${drawn(text, mostOfText)}</text></g>\n`;
  }
  yield '</svg></div>\n';
}

function drawn(text: string, most: number): string {
  return escapeHtmlInLine(fitColumns(text.slice(0, 1_000), most));
}
