import { neutraliseControls } from '@hansard/events/plain';
import MarkdownIt from 'markdown-it';

/** Longer texts are shown as they are: rendering them takes long, and few of them are prose. */
const longest = 20_000;

/**
 * Markdown from an allow-list: what is not enabled here is text. HTML is always text, images and addresses in text are not
 * links, so nothing is loaded, and a link leads only to a web or mail address.
 */
const markdown = new MarkdownIt('zero', { html: false, linkify: false, breaks: true }).enable([
  'backticks',
  'blockquote',
  'code',
  'emphasis',
  'escape',
  'fence',
  'heading',
  'hr',
  'link',
  'list',
  'newline',
  'strikethrough',
  'table',
]);
markdown.validateLink = (address) => /^(?:https?:\/\/|mailto:)/i.test(address.trim());
markdown.renderer.rules.link_open = (tokens, at, options, _, self) => {
  tokens[at]?.attrSet('rel', 'noreferrer noopener');
  return self.renderToken(tokens, at, options);
};

for (const cell of ['th_open', 'td_open'] as const)
  markdown.renderer.rules[cell] = (tokens, at) => `<${tokens[at]?.tag === 'th' ? 'th' : 'td'}>`;

/** Foreign prose as HTML; null if it is too long to be rendered. */
export function proseHtml(text: string): string | null {
  return text.length > longest ? null : markdown.render(neutraliseControls(text));
}
