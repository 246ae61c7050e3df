const longestName = 80;

/** Letters, digits and `._-`, a letter or digit first and not a whole path; of a long name, the end. */
export function toName(text: string): string | null {
  const name = text
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .slice(-longestName)
    .replace(/^[._-]+|[._-]+$/g, '');
  return name === '' ? null : name;
}
