import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.ts';

export interface CodeBlock {
  /** The file and the line of the fence: `README.md:12`. */
  readonly place: string;
  readonly language: string;
  readonly code: string;
}

/** Every fenced block of code in the READMEs and in `docs`. */
export function documentedCode(): CodeBlock[] {
  const files = globSync(
    ['*.md', 'docs/**/*.md', 'examples/README.md', '{packages,plugins,apps,examples}/*/*.md'],
    {
      cwd: root,
    },
  );
  return files.sort().flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(/^ *```(\w+)\n([\s\S]*?)^ *```$/gm)].map((match) => ({
      place: `${file}:${text.slice(0, match.index).split('\n').length}`,
      language: match[1] ?? '',
      code: match[2] ?? '',
    }));
  });
}
