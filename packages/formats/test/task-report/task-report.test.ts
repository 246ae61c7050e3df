import type { TaskSource } from '@hansard/events';
import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { type ReportOptions, writeTaskMarkdown, writeTaskPage } from '../../src/index.ts';
import { textBlock } from '../../src/task-report/html-text.ts';
import { blockMarkdown, inlineMarkdown } from '../../src/task-report/markdown-text.ts';
import { envelope, events, hostileTexts, sourceOf, wholeOf } from './hostile-task.ts';

const source = sourceOf([envelope], events);
const ours =
  /^<(!doctype html|\/?(html|head|body|main|section|h1|h2|bdi|dl|dt|dd|details|summary|ol|li|time|span|div|em|table|thead|tbody|tr|th|td|a|footer|title|style)|meta|img class="observed" alt="[^"<>]*" src="data:image\/png;base64,[A-Za-z0-9+/=]+")[ >]/i;

describe('a task as a page', () => {
  it('has no element, attribute or script that an agent wrote', async () => {
    const html = (await wholeOf(writeTaskPage(source))).replace(/<style>[\s\S]*?<\/style>/, '');
    const tags = html.match(/<[^>]*>?/g) ?? [];
    expect(tags.length).toBeGreaterThan(200);
    expect(tags.filter((tag) => !ours.test(tag))).toEqual([]);
    expect(tags.filter((tag) => /\son[a-z]+\s*=|javascript:/i.test(tag))).toEqual([]);
  });

  it('shows every text unchanged', async () => {
    const html = await wholeOf(writeTaskPage(source));
    expect(html).toContain('&lt;script&gt;globalThis.taken = true&lt;/script&gt;');
    expect(html).toContain('&amp;lt;script&amp;gt; &amp;amp; &amp;#60;');
    expect(html).toContain('␛[31mred&lt;U+202E&gt;desrever␀ &lt;U+D800&gt;');
  });

  it('forbids the browser to load or run anything', async () => {
    const html = await wholeOf(writeTaskPage(source));
    expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'; img-src data:;`);
    expect(html).not.toContain('<script');
  });

  it('shows observed images only if their content has the declared type', async () => {
    const html = await wholeOf(writeTaskPage(source));
    expect(html.match(/<img /g)).toHaveLength(hostileTexts.length);
    expect(html).not.toContain('svg+xml;base64');
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

describe.each([
  ['a page', writeTaskPage],
  ['Markdown', writeTaskMarkdown],
] as const)(
  '%s of a long dispatch',
  (_, write: (source: TaskSource, options?: ReportOptions) => AsyncGenerator<string>) => {
    it('is written while it is read, one line per event', async () => {
      let read = 0;
      const long: TaskSource = {
        ...source,
        async *readEvents() {
          for (const event of [...events, ...events, ...events]) {
            read += 1;
            yield event;
          }
        },
      };
      let furthestBehind = 0;
      let items = 0;
      for await (const piece of write(long, { wholeUpTo: 10 })) {
        if (!/^(<li>|- \d\d:)/.test(piece)) continue;
        items += 1;
        furthestBehind = Math.max(furthestBehind, read - items);
      }
      expect(items).toBe(events.length * 3);
      expect(furthestBehind).toBeLessThanOrEqual(11);
    });

    it('stops reading when the consumer stops', async () => {
      let isOver = false;
      const watched: TaskSource = {
        ...source,
        async *readEvents() {
          try {
            yield* events;
          } finally {
            isOver = true;
          }
        },
      };
      for await (const piece of write(watched, { wholeUpTo: 10 })) if (/^(<li>|- \d\d:)/.test(piece)) break;
      expect(isOver).toBe(true);
    });
  },
);
