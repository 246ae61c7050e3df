import type { CapturedEvent, JsonValue } from '@hansard/provider';
import {
  type Mutant,
  storing,
  storingEntries,
  storingNumbers,
  storingTexts,
  storingValues,
} from './mutant.ts';

const isObject = (value: JsonValue) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isEmpty = (value: JsonValue) => isObject(value) && Object.keys(value as object).length === 0;
const without = (key: string) =>
  storing(
    (event) =>
      Object.fromEntries(Object.entries(event).filter(([name]) => name !== key)) as unknown as CapturedEvent,
  );

/** Stores that change what they keep. */
export const valueMutants: readonly Mutant[] = [
  ['ends a text at NUL', 'values/nul', storingTexts((text) => text.split('\0')[0] ?? '')],
  [
    'removes control characters',
    'values/control-characters',
    storingTexts((text) => text.replace(/\p{Cc}/gu, '')),
  ],
  ['converts line ends', 'values/line-ends', storingTexts((text) => text.replaceAll('\r\n', '\n'))],
  [
    'takes U+2028 for a line end',
    'values/line-ends',
    storingTexts((text) => text.replaceAll('\u2028', '\n')),
  ],
  [
    'keeps 16 bits of each character',
    'values/emoji',
    storingTexts((text) => text.replace(/[\u{10000}-\u{10ffff}]/gu, '?')),
  ],
  ['replaces lone surrogates', 'values/lone-surrogates', storingTexts((text) => text.toWellFormed())],
  ['normalises letters', 'values/normal-forms', storingTexts((text) => text.normalize('NFC'))],
  [
    'loses keys named __proto__',
    'values/proto-keys',
    storingEntries((entries) => entries.filter(([key]) => key !== '__proto__')),
  ],
  [
    'loses keys named constructor',
    'values/proto-keys',
    storingEntries((entries) => entries.filter(([key]) => key !== 'constructor')),
  ],
  [
    'loses empty keys',
    'values/key-names',
    storingEntries((entries) => entries.filter(([key]) => key !== '')),
  ],
  [
    'nests keys at dots',
    'values/placeholders',
    storingEntries((entries) =>
      entries.map(([key, value]) =>
        key.includes('.') ? [key.split('.')[0] ?? '', { [key.split('.')[1] ?? '']: value }] : [key, value],
      ),
    ),
  ],
  [
    'loses keys that begin with $',
    'values/placeholders',
    storingEntries((entries) => entries.filter(([key]) => !key.startsWith('$'))),
  ],
  ['builds texts with String.replace', 'values/placeholders', storingTexts((text) => 'x'.replace('x', text))],
  ['fills in placeholders', 'values/placeholders', storingTexts((text) => text.replaceAll('%s', ''))],
  ['escapes markup', 'values/placeholders', storingTexts((text) => text.replaceAll('&', '&amp;'))],
  [
    'turns empty objects into null',
    'values/empty',
    storingValues((value) => (isEmpty(value) ? null : value)),
  ],
  [
    'turns empty data into null',
    'values/no-data',
    storing((event) => (isEmpty(event.data as JsonValue) ? { ...event, data: null as never } : event)),
  ],
  [
    'turns empty lists into objects',
    'values/empty',
    storingValues((value) => (Array.isArray(value) && value.length === 0 ? {} : value)),
  ],
  ['turns empty texts into null', 'values/empty', storingValues((value) => (value === '' ? null : value))],
  [
    'loses keys that are null',
    'values/nulls',
    storingEntries((entries) => entries.filter(([, value]) => value !== null)),
  ],
  [
    'loses items that are null',
    'values/nulls',
    storingValues((value) => (Array.isArray(value) ? value.filter((item) => item !== null) : value)),
  ],
  ['keeps numbers in 32 bits', 'values/numbers', storingNumbers((value) => Math.fround(value))],
  ['keeps 15 digits of a number', 'values/numbers', storingNumbers((value) => Number(value.toPrecision(15)))],
  [
    'rounds tiny numbers to 0',
    'values/numbers',
    storingNumbers((value) => (Math.abs(value) < 1e-300 ? 0 : value)),
  ],
  [
    'keeps true as 1',
    'values/booleans',
    storingValues((value) => (typeof value === 'boolean' ? Number(value) : value)),
  ],
  [
    'reads texts as JSON',
    'values/json-in-text',
    storingTexts((text) => (text.startsWith('{"id"') ? '' : text)),
  ],
  ['removes backslashes', 'values/json-in-text', storingTexts((text) => text.replaceAll('\\', ''))],
  ['doubles quotes', 'values/json-in-text', storingTexts((text) => text.replaceAll("'", "''"))],
  [
    'ends objects at a depth of 100',
    'values/deep',
    storing((event) =>
      JSON.stringify(event.data).split('{').length > 100 ? { ...event, data: { in: null } } : event,
    ),
  ],
  ['keeps 1,000 keys of an object', 'values/wide', storingEntries((entries) => entries.slice(0, 1_000))],
  ['cuts texts at 1 MB', 'values/long-text', storingTexts((text) => text.slice(0, 1_048_576))],
  ['cuts texts at 65,535 characters', 'values/long-text', storingTexts((text) => text.slice(0, 65_535))],
  [
    'strips a leading byte order mark',
    'values/byte-order-marks',
    storingTexts((text) => text.replace(/^\ufeff/, '')),
  ],
  [
    'strips a byte order mark from keys',
    'values/byte-order-marks',
    storingEntries((entries) => entries.map(([key, value]) => [key.replace(/^\ufeff/, ''), value])),
  ],
  ['trims texts', 'values/white-space', storingTexts((text) => text.trim())],
  ['removes white space at the end of a text', 'values/white-space', storingTexts((text) => text.trimEnd())],
  [
    'trims keys',
    'values/white-space',
    storingEntries((entries) => entries.map(([key, value]) => [key.trim(), value])),
  ],
  ['converts no-break spaces', 'values/white-space', storingTexts((text) => text.replaceAll('\u00a0', ' '))],
  [
    'revives texts that look like dates',
    'values/texts-like-values',
    storingTexts((text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? new Date(text).toISOString() : text)),
  ],
  [
    'keeps texts of digits as numbers',
    'values/texts-like-values',
    storingTexts((text) => (/^-?\d+$/.test(text) ? String(Number(text)) : text)),
  ],
  [
    'keeps the text null as null',
    'values/texts-like-values',
    storingValues((value) => (value === 'null' ? null : value)),
  ],
  [
    'decodes texts of base64',
    'values/texts-like-values',
    storingTexts((text) => (/^[A-Za-z0-9+/]+=$/.test(text) ? atob(text) : text)),
  ],
  [
    'lowers the case of keys',
    'values/case-of-keys',
    storingEntries((entries) => entries.map(([key, value]) => [key.toLowerCase(), value])),
  ],
  [
    'keeps 65,536 items of a list',
    'values/long-list',
    storingValues((value) => (Array.isArray(value) ? value.slice(0, 65_536) : value)),
  ],
  [
    'cuts keys at 65,535 characters',
    'values/long-key',
    storingEntries((entries) => entries.map(([key, value]) => [key.slice(0, 65_535), value])),
  ],
  [
    'sorts the keys of objects',
    'values/order-of-keys',
    storingEntries((entries) => entries.toSorted(([one], [other]) => (one < other ? -1 : 1))),
  ],
  [
    'sorts keys by their length, as jsonb does',
    'values/order-of-keys',
    storingEntries((entries) => entries.toSorted(([one], [other]) => one.length - other.length)),
  ],
  [
    'reverses keys in objects inside lists',
    'values/order-of-keys',
    storingEntries((entries) => (entries[0]?.[0] === 'y' ? entries.toReversed() : entries)),
  ],
  ['loses the field via', 'values/links', without('via')],
  ['loses the field follows', 'values/links', without('follows')],
  ['loses the field retracts', 'values/links', without('retracts')],
  ['loses the version of an event', 'values/links', without('v')],
  ['loses the field substance', 'values/links', without('substance')],
  [
    'unpacks a list of one cause',
    'values/links',
    storing((event) =>
      Array.isArray(event.cause) && event.cause.length === 1
        ? { ...event, cause: event.cause[0] as string }
        : event,
    ),
  ],
  [
    'packs one cause into a list',
    'values/links',
    storing((event) => (typeof event.cause === 'string' ? { ...event, cause: [event.cause] } : event)),
  ],
  [
    'adds the agent to events without one',
    'values/links',
    storing((event) => ({ agentId: 'agent_000', ...event })),
  ],
  ['loses fields of newer versions', 'values/keys-of-newer-versions', without('mood')],
  [
    'keeps whole seconds',
    'values/links',
    storing((event) => ({ ...event, timestamp: event.timestamp?.replace(/\.\d+Z/, '.000Z') ?? null })),
  ],
  [
    'keeps times from 1970 on',
    'values/times',
    storing((event) =>
      event.timestamp !== null && event.timestamp < '1970'
        ? { ...event, timestamp: '1970-01-01T00:00:00.000Z' }
        : event,
    ),
  ],
  [
    'fills in a time that is not recorded',
    'values/time-not-recorded',
    storing((event) => ({ ...event, timestamp: event.timestamp ?? '2026-03-01T09:30:00.000Z' })),
  ],
  [
    'keeps two digits of a year',
    'values/times',
    storing((event) => ({
      ...event,
      timestamp: event.timestamp?.replace(/^(0001|9999)/, '19$1'.slice(0, 4)) ?? null,
    })),
  ],
  [
    'counts undefined as a value',
    'values/undefined-is-absent',
    storingEntries((entries) => entries.map(([key, value]) => [key, value === undefined ? null : value])),
  ],
  [
    'trims the texts of envelopes',
    'values/byte-order-marks-elsewhere',
    (good) => ({
      createDispatch: (taskDir, envelope) =>
        good.createDispatch(taskDir, { ...envelope, role: envelope.role.trim() }),
    }),
  ],
  [
    'strips byte order marks of tasks',
    'values/byte-order-marks-elsewhere',
    (good) => ({
      putTask: (taskDir, task) =>
        good.putTask(taskDir, { ...task, project: task.project.replace('\ufeff', '') }),
    }),
  ],
  [
    'removes NUL from tasks',
    'values/in-envelopes-and-tasks',
    (good) => ({
      putTask: (taskDir, task) => good.putTask(taskDir, { ...task, name: task.name.replaceAll('\0', '') }),
    }),
  ],
];
