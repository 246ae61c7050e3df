import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** Every link of a document that leads nowhere, or out of `home`; each in words. Links to the web are not followed. */
export function brokenLinks(home: string, document: string): string[] {
  const text = readFileSync(join(home, document), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/\]\((?!https?:)([^)\s]*)\)/g)].flatMap(([, link = '']) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? join(home, document) : resolve(home, dirname(document), path);
    if (relative(home, target).startsWith('..')) return [`${document} links out of the package: ${link}`];
    if (!existsSync(target)) return [`${document} links to ${link}, which does not exist`];
    return anchor === undefined || !target.endsWith('.md') || anchorsOf(target).has(anchor)
      ? []
      : [`${document} links to ${link}, which has no such heading`];
  });
}

/** The anchors of a document, as Git hosts make them of its headings, and those that it sets itself. */
function anchorsOf(path: string): ReadonlySet<string> {
  const text = readFileSync(path, 'utf8');
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/<[^>]*>|[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  );
  return new Set([...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)]);
}
