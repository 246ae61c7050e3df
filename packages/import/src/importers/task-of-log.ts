import { basename, dirname } from 'node:path';
import type { ClaudeLog } from '@hansard/claude';

const longestName = 80;

/**
 * The task that a session of Claude Code belongs to: its project is the folder below `projects` in which Claude Code
 * keeps it, elsewhere the folder that the session worked in, written in the same way. Its slug is the session's id, or that
 * of the first session that it continues.
 */
export function taskOfLog({ files, cwd, sessionId, continues, dispatchId }: ClaudeLog): string {
  const [file = ''] = files;
  const folder = basename(dirname(file));
  const isInProjects = basename(dirname(dirname(file))) === 'projects';
  const project = isInProjects ? folder : (cwd?.replace(/[^A-Za-z0-9]/g, '-') ?? folder);
  const slug = continues?.rootSessionId ?? sessionId ?? basename(file, '.jsonl');
  return `${toName(project) ?? 'claude'}/tasks/${toName(slug) ?? dispatchId}`;
}

/** Letters, digits and `._-`, a letter or digit first and not a whole path; of a long name, the end. */
function toName(text: string): string | null {
  const name = text
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .slice(-longestName)
    .replace(/^[._-]+|[._-]+$/g, '');
  return name === '' ? null : name;
}
