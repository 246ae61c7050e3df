import { escapeHtmlInLine } from '../html-text.ts';
import { pageStyle } from '../page-style.ts';
import { policyHash } from './packed-rows.ts';

interface PageStart {
  /** Foreign text. */
  readonly title: string;
  /** The links above the title, as HTML. */
  readonly links?: string;
  /** The controls of the script, as HTML. */
  readonly bar: string;
  /** The only script of the page. */
  readonly script: string;
}

/** A page up to its content. Its content security policy allows one style and one script, by their hashes, and nothing from elsewhere. */
export async function pageStart({ title, links = '', bar, script }: PageStart): Promise<string> {
  const shown = escapeHtmlInLine(title);
  const policy = [
    "default-src 'none'",
    `style-src ${await policyHash(pageStyle)}`,
    `script-src ${await policyHash(script)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${shown}</title>
<style>${pageStyle}</style>
</head>
<body>
<header>${links}<h1 dir="auto">${shown}</h1>${bar}</header>
<main>
`;
}

/** The rest of a page after its content. */
export function pageEnd(script: string): string {
  return `</main>\n<footer>Written by Hansard. Times are UTC.</footer>\n<script>${script}</script>\n</body>\n</html>\n`;
}
