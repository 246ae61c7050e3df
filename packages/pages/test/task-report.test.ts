import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { newEvent, parseEvent, separateContent, type TaskSource } from '@hansard/events';
import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { textBlock } from '../src/html-text.ts';
import { type ReportOptions, writeTaskMarkdown, writeTaskPage } from '../src/index.ts';
import { blockMarkdown, inlineMarkdown } from '../src/task-markdown.ts';
import { envelope, events, hostileTexts, sourceOf, wholeOf } from './hostile-task.ts';

const source = sourceOf([envelope], events);
const elements =
  'html|head|body|header|main|section|form|fieldset|legend|label|select|option|output|kbd|h1|h2|bdi|dl|dt|dd|details|summary|ol|li|time|span|div|em|b|i|table|thead|tbody|tr|th|td|a|footer|title|style|code|ins|del|small|noscript|svg|text|path|circle|g';
/** What Markdown may become. */
const prose = 'p|strong|em|s|ul|ol|li|blockquote|hr|br|pre|code|h1|h2|h3|table|thead|tbody|tr|th|td';
const ours = new RegExp(
  `^<(!doctype html|/?(${elements}|${prose})|meta|input|img class="observed" alt="[^"<>]*" src="data:image/png;base64,[A-Za-z0-9+/=]+")[ >]`,
  'i',
);

/** The page without its style and its own script, each of which it has once. */
async function contentOf(task: TaskSource, options: ReportOptions = {}): Promise<string> {
  const html = await wholeOf(writeTaskPage(task, options));
  const parts = html.split(/<style>[\s\S]*?<\/style>|<script>[\s\S]*?<\/script>\n<\/body>/);
  expect(parts).toHaveLength(3);
  return parts.join('');
}

describe('a task as a page', () => {
  it('has no element, attribute or script that an agent wrote', async () => {
    const tags = (await contentOf(source)).match(/<[^>]*>?/g) ?? [];
    expect(tags.length).toBeGreaterThan(200);
    expect(tags.filter((tag) => !ours.test(tag))).toEqual([]);
    const names = tags.map((tag) => tag.replaceAll(/="[^"]*"/g, ''));
    expect(names.filter((name) => /[\s"](?:on[a-z]+|style)\b|javascript:/i.test(name))).toEqual([]);
    const links = tags.flatMap((tag) => /\s(?:href|src)="([^"]*)"/.exec(tag)?.[1] ?? []);
    expect(links.length).toBeGreaterThan(100);
    expect(links.filter((link) => !/^(#|https?:\/\/|mailto:|data:image\/png;base64,)/.test(link))).toEqual(
      [],
    );
  });

  it('shows every text unchanged, except for Markdown', async () => {
    const html = await contentOf(source);
    expect(html).toContain('&lt;script&gt;globalThis.taken = true&lt;/script&gt;');
    expect(html).toContain('&amp;lt;script&amp;gt; &amp;amp; &amp;#60;');
    expect(html).toContain('␛[31mred&lt;U+202E&gt;desrever␀ &lt;U+D800&gt;');
    expect(html).toContain('<strong>bold</strong>');
  });

  it('forbids the browser to load anything, and to run anything but its script', async () => {
    const html = await wholeOf(writeTaskPage(source));
    const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'; img-src data:;/,
    );
    expect(html.match(/<script/g)).toHaveLength(1);
    const [, script = ''] = /<script>([\s\S]*)<\/script>/.exec(html) ?? [];
    expect(policy).toContain(`script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  });

  it('has an anchor for every event', async () => {
    const html = await contentOf(source);
    for (const position of events.keys())
      expect(html.match(new RegExp(` id="d1-${position}"`, 'g'))).toHaveLength(1);
  });

  it('shows observed images only if their content has the declared type', async () => {
    const html = await contentOf(source);
    expect(html.match(/<img /g)).toHaveLength(hostileTexts.length);
    expect(html).not.toContain('svg+xml;base64');
  });

  it('shows the images of messages and results from the bytes of the log, and names other files', async () => {
    const bytes = Buffer.from('iVBORw0KGgo=', 'base64');
    const source = { type: 'base64', media_type: 'image/png', data: bytes.toString('base64') };
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' };
    const message = newEvent('user:message', {
      text: 'What is it?',
      source: { kind: 'user' },
      parts: [
        { type: 'image', source },
        { type: 'document', source: pdf },
        { type: 'image', source: { ...source, media_type: 'image/svg+xml' } },
      ] as never,
    });
    const result = newEvent('agent:tool_result', {
      toolCallId: 'call_1',
      tool: 'Read',
      status: 'completed',
      output: [{ type: 'image', source }],
      metadata: {},
    });
    const log = [message, result].flatMap((given) => {
      const { event, contents } = separateContent(given);
      return [...contents, event];
    });
    const stored = [...new Map(log.map((event, at) => [event.id ?? `e${at}`, event]))].map(([id, event]) =>
      parseEvent({ ...event, id, timestamp: event.timestamp === null ? null : '2026-03-01T09:30:01.000Z' }),
    );
    expect(stored.filter(({ type }) => type === 'content:stored')).toHaveLength(2);
    const html = await contentOf(sourceOf([envelope], stored));
    expect(html.match(/<img [^>]*src="data:image\/png;base64,iVBORw0KGgo="/g)).toHaveLength(2);
    expect(html.match(/<img /g)).toHaveLength(2);
    expect(html).toContain('[application/pdf 9 bytes, sha256 ');
    expect(html).not.toContain('JVBERi0xLjQK');
    expect(html).not.toContain('svg+xml;base64');
  });

  it('has the first 2,000 rows as they are, and the others compressed, in less than half of their bytes in the log', async () => {
    const [said] = events.filter(({ type }) => type === 'agent:text');
    const long = Array.from({ length: 4_500 }, (_, at) => ({
      ...said,
      id: `l${at}`,
      type: 'agent:text' as const,
      timestamp: '2026-03-01T09:30:01.000Z',
      data: { text: `Part ${at} of the work is done. ${'It took a while. '.repeat(8)}` },
    }));
    const html = await contentOf(sourceOf([envelope], long), { wholeUpTo: 10 });
    expect(html.match(/<li class="row /g)).toHaveLength(2_000);
    const packed = [
      ...html.matchAll(/data-first="(\d+)" data-last="(\d+)"><script type="text\/plain">([^<]*)</g),
    ];
    const texts = packed.map(([, , , base64 = '']) => gunzipSync(Buffer.from(base64, 'base64')).toString());
    expect(texts.join('').match(/<li class="row /g)).toHaveLength(2_500);
    for (const [at, [, first, last]] of packed.entries()) {
      expect(texts[at]).toContain(` id="d1-${first}"`);
      expect(texts[at]).toContain(`Part ${last} of the work`);
    }
    const logBytes = long.slice(2_000).reduce((sum, event) => sum + JSON.stringify(event).length + 1, 0);
    const packedBytes = packed.reduce((sum, [item]) => sum + item.length, 0);
    expect(packedBytes).toBeLessThan(logBytes / 2);
  });
});

describe('a task as Markdown', () => {
  it('has no markup, link or HTML that an agent wrote', async () => {
    const markdown = await wholeOf(writeTaskMarkdown(source));
    const html = new MarkdownIt({ html: true, linkify: true })
      .enable(['table', 'strikethrough'])
      .render(markdown);
    const tags = new Set((html.match(/<\/?[a-z0-9]+/gi) ?? []).map((tag) => tag.replace(/[</]/g, '')));
    expect([...tags].sort()).toEqual(['code', 'h1', 'h2', 'h3', 'li', 'p', 'pre', 'strong', 'ul']);
    const headings = [...html.matchAll(/<h[1-6]>(.*?)<\/h[1-6]>/g)].map(([, text]) => text);
    expect(headings).not.toContain('Approved');
    expect(html).not.toMatch(/<strong>bold|<a |<b>|<i>|<s>|<table|<em>|<img|<!--/);
  });

  it('accepts a text with more code marks than a call can have arguments', () => {
    expect(blockMarkdown('` '.repeat(300_000))).toMatch(/^```text\n/);
  });

  it('is readable as source: characters without a meaning at their place are not escaped', () => {
    expect(inlineMarkdown('[Jack]: {"a_b":[1]} costs $5 (50%), why? It is a+b=c - #1.')).toBe(
      '[Jack]: {"a_b":[1]} costs $5 (50%), why? It is a+b=c - \\#1.',
    );
  });

  it('shows every text unchanged', async () => {
    const markdown = await wholeOf(writeTaskMarkdown(source));
    const shown = new MarkdownIt({ html: true })
      .render(markdown)
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&');
    const plain = hostileTexts.filter((text) => !text.includes('\u001b') && !text.includes('\u2028'));
    for (const text of plain) expect(shown).toContain(text.trim());
    const inLines = plain.filter((text) => !text.includes('\n'));
    for (const text of inLines) expect(shown).toContain(`from user: ${text}`);
  });
});

describe('a page', () => {
  it('has the name of its task as title, or its usual title', async () => {
    const nameless = { ...source, taskDir: 'lab/tasks/hostile', task: null };
    expect(await wholeOf(writeTaskPage(nameless))).toContain('<title>lab/hostile</title>');
  });

  it('cuts a long text between characters', () => {
    expect(textBlock(`${'x'.repeat(199)}🦊${'y'.repeat(2_000)}`)).toContain('x🦊 … <em>');
  });

  it('shows a running dispatch as running, and one without its parent', async () => {
    const orphan = {
      ...envelope,
      role: 'worker',
      status: 'running',
      completedAt: null,
      parentDispatchId: '01JM0000000000000000000009',
    } as const;
    const html = await wholeOf(writeTaskPage(sourceOf([orphan], [])));
    expect(html).toContain('<td class="notice">running</td>');
    expect(html).toContain('its parent is not here');
    expect(await wholeOf(writeTaskMarkdown(sourceOf([orphan], [])))).toContain('(no events)');
  });
});

/** Its envelope has counted every event, and knows no branch: the log is read once. */
const counted = { ...envelope, folded: { through: 999_999 } as never };

/** A piece of Markdown that is a row. */
const isRow = /^\*\*\d\d:\d\d:\d\d\*\* /;

describe('Markdown of a long dispatch', () => {
  it('is written while it is read, at most 10,000 events behind', async () => {
    let read = 0;
    const said = events.filter(({ type }) => type === 'agent:text');
    const long: TaskSource = {
      ...source,
      envelopes: [counted],
      async *readEvents() {
        for (let round = 0; round < 1_000; round += 1)
          for (const event of said) {
            yield { ...event, id: `x${read}` };
            read += 1;
          }
      },
    };
    const behind: number[] = [];
    let rows = 0;
    for await (const piece of writeTaskMarkdown(long, { wholeUpTo: 10 })) {
      if (!isRow.test(piece)) continue;
      rows += 1;
      behind.push(read - rows);
    }
    expect(rows).toBe(said.length * 1_000);
    expect(Math.max(...behind)).toBeLessThanOrEqual(10_001);
  });
});

describe.each([
  ['a page', writeTaskPage, /^<li class="group">/],
  ['Markdown', writeTaskMarkdown, isRow],
] as const)(
  '%s of a long dispatch',
  (_, write: (source: TaskSource, options?: ReportOptions) => AsyncGenerator<string>, isRows: RegExp) => {
    it('stops reading when the consumer stops', async () => {
      let read = 0;
      let isOver = false;
      const all = Array.from({ length: 30_000 }, (_, at) => ({
        ...(events[4] as (typeof events)[0]),
        id: `x${at}`,
      }));
      const watched: TaskSource = {
        ...source,
        envelopes: [counted],
        async *readEvents() {
          try {
            for (const event of all) {
              read += 1;
              yield event;
            }
          } finally {
            isOver = true;
          }
        },
      };
      for await (const piece of write(watched, { wholeUpTo: 10 })) if (isRows.test(piece)) break;
      expect(isOver).toBe(true);
      expect(read).toBeLessThan(11_000);
    });
  },
);
