const longestName = 80;

/** Letters, digits and `._-`, a letter or digit first and not a whole path; of a long name, the end. */
export function toName(text: string): string | null {
  const name = text
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .slice(-longestName)
    .replace(/^[._-]+|[._-]+$/g, '');
  return name === '' ? null : name;
}

/** The project of a folder, written as Claude Code writes it. */
export function projectOf(cwd: string): string {
  return cwd.replace(/[^A-Za-z0-9]/g, '-');
}

/** The task of a session of a project. */
export function taskOf(project: string, slug: string, dispatchId: string): string {
  return `${toName(project) ?? 'imported'}/tasks/${toName(slug) ?? dispatchId}`;
}
