/** What the page shows, as it is in the address after `#`. */
export type Screen =
  | { readonly kind: 'library'; readonly task: string | null }
  | { readonly kind: 'reader'; readonly task: string; readonly id: string; readonly at: number | null };

export function parseAddress(hash: string): Screen {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?');
  const parts = path.split('/').filter((part) => part !== '');
  const [kind, task, id] = parts.map(decode);
  if (kind === 'd' && task !== undefined && id !== undefined) {
    const at = new URLSearchParams(query).get('at');
    return { kind: 'reader', task, id, at: at !== null && /^\d{1,15}$/.test(at) ? Number(at) : null };
  }
  return { kind: 'library', task: kind === 't' && task !== undefined ? task : null };
}

export function addressOf(screen: Screen): string {
  if (screen.kind === 'library')
    return screen.task === null ? '#/' : `#/t/${encodeURIComponent(screen.task)}`;
  const at = screen.at === null ? '' : `?at=${screen.at}`;
  return `#/d/${encodeURIComponent(screen.task)}/${encodeURIComponent(screen.id)}${at}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
