/** Whether an event type matches a pattern in which `*` means any characters: `agent:*`, `harness:loop_*`, `*`. */
export function matchesEventType(pattern: string, type: string): boolean {
  const [start = '', ...rest] = pattern.split('*');
  const end = rest.pop();
  if (end === undefined) return pattern === type;
  if (!type.startsWith(start)) return false;
  let position = start.length;
  for (const part of rest) {
    const found = type.indexOf(part, position);
    if (found === -1) return false;
    position = found + part.length;
  }
  return type.length - end.length >= position && type.endsWith(end);
}
