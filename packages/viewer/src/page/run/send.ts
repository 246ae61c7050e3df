import { type DispatchName, pathOf } from '../api.ts';

/** Sends something to a run. Null: it was received; otherwise why not, for people. */
export async function sendToRun(
  name: DispatchName,
  what: 'message' | 'abort',
  body: Readonly<Record<string, string>>,
): Promise<string | null> {
  try {
    const answer = await fetch(`${pathOf(name)}/${what}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-hansard': 'page' },
      body: JSON.stringify(body),
    });
    if (answer.ok) return null;
    const { code, message } = (await answer.json().catch(() => ({}))) as { code?: string; message?: string };
    return [code, message ?? `The viewer answered ${answer.status}.`].filter(Boolean).join(': ');
  } catch {
    return 'The viewer does not answer.';
  }
}
