import { neutraliseControls } from '@hansard/events/plain';
import { dayHeading, formatTime, timeNotRecorded } from '@hansard/facts';
import { isStoredRow, type Row, rowWords, spanText, type WordBlock, type WordSpan } from '@hansard/views';
import { fileKind, mediaIn, type ReportOptions, type ReportRow } from '../dispatch-report.ts';
import { escapeHtml, escapeHtmlInLine, observedImage, textBlock, timeHtml } from '../html-text.ts';
import { longestMarkdown, markdown } from '../markdown.ts';

markdown.renderer.rules.link_open = (tokens, at, options, _, self) => {
  tokens[at]?.attrSet('rel', 'noreferrer noopener');
  return self.renderToken(tokens, at, options);
};

/** How many colours the style sheet has for agents. */
const colours = 6;

/** How many rows of a page are shown without its script. */
const mostPlain = 2_000;

const rowsInGroup = 500;

/** The rows of the dispatches of a page: the first ones plain, the others compressed. */
export class PageRows {
  readonly #onLeftOut: ReportOptions['onLeftOut'];
  #rows = 0;

  constructor(onLeftOut?: ReportOptions['onLeftOut']) {
    this.#onLeftOut = onLeftOut;
  }

  /** The items of a list with the rows of a dispatch. `scope` begins its anchors; `role` names the dispatched agent. */
  async *items(rows: AsyncIterable<ReportRow>, scope: string, role: string): AsyncGenerator<string> {
    let day = '';
    let group: ReportRow[] = [];
    const htmlOf = (row: Row) => {
      const heading = isStoredRow(row) ? null : dayHeading(row.timestamp, day);
      const item = rowItem(row, scope, role);
      const html = heading === null ? item : `${dayItem(heading)}\n${item}`;
      day = heading ?? day;
      return `${html}\n`;
    };
    const groupItem = async () => {
      const [first] = group;
      const last = group.at(-1);
      if (first === undefined || last === undefined) return '';
      const html = runsOf(group)
        .map(({ fold, rows }) => {
          if (fold === null) return rows.map(htmlOf).join('');
          // A day that begins in a closed fold begins for the rows after it, too.
          return foldItem(fold, rows.map((row) => `${rowItem(row, scope, role)}\n`).join(''));
        })
        .join('');
      const isPlain = this.#rows < mostPlain;
      const isFirstPacked = !isPlain && this.#rows - mostPlain < rowsInGroup;
      const packed = { scope, first: first.row.position, last: last.row.position, html };
      this.#rows += group.length;
      group = [];
      if (isPlain) return `<li class="group"><ol class="rows happened">\n${html}</ol></li>\n`;
      return `${isFirstPacked ? note : ''}${await packedItem(packed)}`;
    };
    for await (const row of rows) {
      for (const { media } of mediaIn(row.row))
        if (observedImage(media) === null) this.#onLeftOut?.(fileKind(media), 1);
      group.push(row);
      if (group.length === rowsInGroup) yield await groupItem();
    }
    yield await groupItem();
  }
}

/** Consecutive rows that one row stands for, or that no row stands for. */
function runsOf(group: readonly ReportRow[]): { readonly fold: Row | null; readonly rows: Row[] }[] {
  const runs: { readonly fold: Row | null; readonly rows: Row[] }[] = [];
  for (const { row, fold } of group) {
    const last = runs.at(-1);
    if (last !== undefined && last.fold === fold) last.rows.push(row);
    else runs.push({ fold, rows: [row] });
  }
  return runs;
}

/** A branch that is not current, or copies, as an item that opens. */
function foldItem(fold: Row, items: string): string {
  const words = rowWords(fold);
  const summaries = words.blocks.flatMap((block) =>
    block.kind === 'records' ? escapeHtmlInLine(block.summary) : [],
  );
  return `<li class="fold"><details><summary><span class="word">${escapeHtmlInLine(spanText(words, 'word'))}</span> ${summaries.join(' ')}</summary><ol class="rows happened">\n${items}</ol></details></li>\n`;
}

const note = '<li class="note"><noscript>The other rows of this page need its script.</noscript></li>\n';

/** A row as an item of a list. `scope` begins the anchors of its dispatch: that of an event is `scope-position`. */
function rowItem(row: Row, scope: string, role: string): string {
  const words = rowWords(row, { self: role });
  const { position, timestamp, kind, agentId, isFailed, tone, blocks } = words;
  const span = (...labels: Parameters<typeof spanText>[1][]) => escapeHtmlInLine(spanText(words, ...labels));
  const name = span('agent');
  const records = blocks.flatMap((block) => (block.kind === 'records' ? block.records : []));
  const anchored = new Set([position, ...records.map((one) => one.position)]);
  const anchors = row.events.filter((at) => !anchored.has(at)).map((at) => `<a id="${scope}-${at}"></a>`);
  const anchorOf = (at: number) => (at === position ? '' : ` id="${scope}-${at}"`);
  const head = span('head');
  const mark = span('mark');
  const status = span('status');
  const state = status === '' ? '' : ` <span class="${isFailed ? 'bad' : 'quiet'}">${status}</span>`;
  const figures = words.spans.flatMap(({ label, text }) =>
    label === 'duration' || label === 'figure' ? escapeHtmlInLine(text) : [],
  );
  return [
    `<li class="row ${kind}${isFailed ? ' failed' : ''}${tone === 'dim' ? ' quiet' : ''}" id="${scope}-${position}" data-agent="${name}" tabindex="-1">`,
    `<a class="at" href="#${scope}-${position}" title="event ${position}, ${timestamp ?? timeNotRecorded}">${timeHtml(timestamp, formatTime(timestamp))}</a>`,
    `<span class="who a${colourOf(agentId)} d${Math.min(words.depth, 4)}" dir="auto">${name}</span>`,
    `<div class="what">${anchors.join('')}<span class="word">${isFailed ? '✗ ' : ''}${span('word')}</span> ${head === '' ? '' : `<code dir="auto">${head}</code>`}${mark === '' ? '' : ` <span class="quiet">${mark}</span>`}${state}${blocksHtml(blocks, anchorOf)}</div>`,
    `<span class="fig">${figures.join(' · ')}</span></li>`,
  ].join('');
}

function blocksHtml(blocks: readonly WordBlock[], anchorOf: (position: number) => string): string {
  return [...Map.groupBy(blocks, ({ source }) => source)]
    .map(([source, own]) => {
      const html = own.map((block) => blockHtml(block, anchorOf)).join('');
      return source === 'outcome' ? `<div class="outcome">${html}</div>` : html;
    })
    .join('');
}

/** The first row of a day. */
function dayItem(day: string): string {
  return day === timeNotRecorded
    ? `<li class="day">${day}</li>`
    : `<li class="day">${day} <small>UTC</small></li>`;
}

export function colourOf(agentId: string): number {
  let sum = 0;
  for (const character of agentId) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 9_973;
  return sum % colours;
}

/** Rows that a script unfolds when they are needed. A browser without scripts does not show them. */
interface PackedRows {
  /** The anchors of a dispatch begin with it. */
  readonly scope: string;
  /** The positions of the first and the last row. */
  readonly first: number;
  readonly last: number;
  readonly html: string;
}

/** Compressed rows as an item of a list. Base64 has no character that ends the element. */
async function packedItem({ scope, first, last, html }: PackedRows): Promise<string> {
  const packed = toBase64(await compress(html));
  return `<li class="part" data-scope="${scope}" data-first="${first}" data-last="${last}"><script type="text/plain">${packed}</script></li>\n`;
}

async function compress(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 8_192)
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8_192)));
  return btoa(pieces.join(''));
}

/** The hash of an inline script or style, as a content security policy names it. */
export async function policyHash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return `'sha256-${toBase64(new Uint8Array(digest))}'`;
}

/** A block of a row. `anchorOf`: the attribute that makes a record an anchor. */
function blockHtml(block: WordBlock, anchorOf: (position: number) => string): string {
  if (block.kind === 'changed') {
    const parts = block.parts.map(({ kind, text }) => {
      const tag = { same: null, removed: 'del', added: 'ins' }[kind];
      return tag === null ? escapeHtml(text) : `<${tag}>${escapeHtml(text)}</${tag}>`;
    });
    return `<div class="altered">${escapeHtmlInLine(block.label ?? '')}: ${parts.join('')}</div>`;
  }
  const label = block.label === undefined ? '' : `<div class="label">${escapeHtmlInLine(block.label)}</div>`;
  return label + unlabelled(block, anchorOf);
}

function unlabelled(
  block: Exclude<WordBlock, { kind: 'changed' }>,
  anchorOf: (position: number) => string,
): string {
  switch (block.kind) {
    case 'text': {
      const prose = block.isProse ? proseHtml(block.text) : null;
      if (prose === null) return textBlock(block.text, block.isProse ? 'text' : 'code plain');
      return `<div class="prose" dir="auto">${prose}</div>`;
    }
    case 'code':
      return textBlock(block.text, 'code');
    case 'table': {
      const pairs = block.rows.map(
        ([name, value]) => `<span><i>${escapeHtmlInLine(name)}</i> ${escapeHtmlInLine(value)}</span>`,
      );
      return `<div class="fields" dir="auto">${pairs.join(' ')}</div>`;
    }
    case 'diff': {
      const tags = { same: 'span', removed: 'del', added: 'ins' } as const;
      const marks = { same: ' ', removed: '-', added: '+' } as const;
      const lines = block.lines.map(
        ({ kind, text }) => `<${tags[kind]}>${marks[kind]} ${escapeHtmlInLine(text)}</${tags[kind]}>`,
      );
      return `<div class="code diff">${lines.join('')}</div>`;
    }
    case 'media':
      return observedImage(block.media) ?? `<div class="quiet">${escapeHtmlInLine(block.text)}</div>`;
    case 'note':
      return noteHtml(block, block.source === 'hook' ? 'decision' : 'heard');
    case 'records': {
      const items = block.records.map(
        ({ position, timestamp, text }) =>
          `<li${anchorOf(position)}><time>${formatTime(timestamp)}</time> ${escapeHtmlInLine(text)}</li>`,
      );
      return `<details class="folded"><summary>${escapeHtmlInLine(block.summary)}</summary><ol>${items.join('')}</ol></details>`;
    }
  }
}

/** A line about what happened. */
export function noteHtml({ spans }: { readonly spans: readonly WordSpan[] }, className: string): string {
  const words = spans.map(({ text }) => `<bdi>${escapeHtmlInLine(text)}</bdi>`);
  return `<div class="${className}">${words.join(' ')}</div>`;
}

for (const cell of ['th_open', 'td_open'] as const)
  markdown.renderer.rules[cell] = (tokens, at) => `<${tokens[at]?.tag === 'th' ? 'th' : 'td'}>`;

/** Foreign prose as HTML; null if it is too long to be rendered. */
function proseHtml(text: string): string | null {
  return text.length > longestMarkdown ? null : markdown.render(neutraliseControls(text));
}
