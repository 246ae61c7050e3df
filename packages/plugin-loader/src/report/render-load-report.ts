import type { LoadReport, PluginReportEntry, PluginState, ServerReport } from './load-report.ts';

const states: readonly PluginState[] = ['loaded', 'failed', 'denied', 'off'];

/** The report as lines for people: a head with the counts, then each plugin with its source, timings or error. */
export function renderLoadReport({ plugins, totalMs }: LoadReport): string {
  const counts = states
    .map((state) => ({ state, count: plugins.filter((plugin) => plugin.state === state).length }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }) => `${count} ${state}`);
  const head = `Plugins: ${counts.join(', ') || 'none'} (${milliseconds(totalMs)})`;
  return [head, ...plugins.flatMap(renderEntry)].join('\n');
}

function renderEntry(entry: PluginReportEntry): string[] {
  const { id, version, provides, state, source, error, check, server } = entry;
  const title = [id, version, provides].filter((part) => part !== undefined).join(' ');
  const lines = [`${source.kind} ${source.location}`];
  if (error !== undefined) lines.push(`${check}: ${error.code} ${error.message}`);
  if (server !== undefined) lines.push(renderServer(server));
  if (state === 'off') lines.push('name it in the configuration to load it');
  if (state === 'loaded') lines.push(renderTimings(entry));
  return [`  ${state.padEnd(6)} ${printable(title)}`, ...lines.map((line) => `         ${printable(line)}`)];
}

function renderServer(server: ServerReport): string {
  if ('error' in server) return `server: ${server.error.code} ${server.error.message}`;
  return `server ${server.name}: ${server.version}, answered in ${milliseconds(server.latencyMs)}`;
}

/** Checks shorter than 0.05 ms are left out. */
function renderTimings({ timings }: PluginReportEntry): string {
  const times = Object.entries(timings);
  const total = times.reduce((sum, [, time]) => sum + time, 0);
  const shown = times
    .filter(([, time]) => time >= 0.05)
    .map(([check, time]) => `${check} ${time.toFixed(1)}`);
  return `took ${milliseconds(total)}${shown.length === 0 ? '' : ` (${shown.join(', ')})`}`;
}

function milliseconds(time: number): string {
  return `${time.toFixed(1)} ms`;
}

/** A manifest is untrusted text: it must not control the terminal or forge lines of the report. */
function printable(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u{FFF9}-\u{FFFB}]/gu, '�');
}
