import type { DispatchEnvelope, DispatchStatus, TaskSource } from '@hansard/events';
import {
  explainEstimates,
  formatDuration,
  formatSpending,
  formatTokens,
  timeNotRecorded,
} from '@hansard/facts';
import { type DispatchTreeNode, dispatchTree } from '@hansard/views';
import { escapeHtmlInLine, timeHtml } from './html-text.ts';

const unknown = '–';

const headings = ['session', 'status', 'started', 'model', 'in', 'out', 'cost', 'with its workers', 'time']
  .map((name, at) => `<th scope="col"${at > 3 ? ' class="number"' : ''}>${name}</th>`)
  .join('');

/** The addresses of a dispatch, in quoted form: where it begins, and where its further parts do. */
type Hrefs = (envelope: DispatchEnvelope) => readonly string[];

/** The dispatches as a table in the order of their tree, with the costs of each and of its workers. */
export function pageTree({ envelopes }: Pick<TaskSource, 'envelopes'>, hrefs: Hrefs): string {
  const note = explainEstimates(envelopes);
  const rows = dispatchTree(envelopes).flatMap((node) => rowsOf(node, 0, hrefs));
  return `<section aria-label="Sessions"><div class="scroll"><table>
<thead><tr>${headings}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody></table></div>${note === null ? '' : `<p>${escapeHtmlInLine(note)}</p>`}</section>
`;
}

function rowsOf(
  { envelope, own, subtree, children, orphan }: DispatchTreeNode,
  depth: number,
  hrefs: Hrefs,
): string[] {
  const [href = '', ...further] = hrefs(envelope);
  const parts = further.map((part, at) => ` <a href="${part}">${at + 2}</a>`).join('');
  const { role, title } = envelope;
  const about = title === null ? '' : ` <small dir="auto">${escapeHtmlInLine(role)}</small>`;
  const tone = tones[envelope.status];
  const note = orphan ? ' <span class="notice">(its parent is not here)</span>' : '';
  const cells = [
    `<td class="in${Math.min(depth, 12)}"><a href="${href}"><bdi>${escapeHtmlInLine(title ?? role)}</bdi></a>${parts}${about}${note}</td>`,
    `<td${tone === '' ? '' : ` class="${tone}"`}>${envelope.status}</td>`,
    `<td class="started">${timeHtml(envelope.startedAt, startText(envelope))}</td>`,
    `<td class="model">${escapeHtmlInLine(envelope.model ?? unknown)}</td>`,
    number(own.inputTokens, formatTokens),
    number(own.outputTokens, formatTokens),
    `<td class="number">${formatSpending(own) ?? unknown}</td>`,
    `<td class="number">${formatSpending(subtree) ?? unknown}</td>`,
    number(own.durationMs, formatDuration),
  ];
  return [`<tr>${cells.join('')}</tr>`, ...children.flatMap((child) => rowsOf(child, depth + 1, hrefs))];
}

function startText({ startedAt }: DispatchEnvelope): string {
  return startedAt?.slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ') ?? timeNotRecorded;
}

const tones: Readonly<Record<DispatchStatus, string>> = {
  running: 'notice',
  completed: '',
  aborted: 'bad',
  crashed: 'bad',
};

/** The anchor of a dispatch on the page. */
export function anchorOf(dispatchId: string): string {
  return `dispatch-${escapeHtmlInLine(dispatchId)}`;
}

function number(figure: number | null, format: (figure: number) => string): string {
  return `<td class="number">${figure === null ? unknown : escapeHtmlInLine(format(figure))}</td>`;
}
