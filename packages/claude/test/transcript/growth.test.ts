import { describe, expect, it } from 'vitest';
import { answer, call, lines, outcome, prompt, readTranscript, record, text } from './transcripts.ts';

const mode = { type: 'mode', mode: 'normal', sessionId: 'session-1' };

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAECAwQF' } };

/** A session with every kind of record that could be misread if the file ends in the middle of it. */
const session = [
  '\uFEFF',
  lines(mode, prompt(1, 'naïve 🎉 "quotes" {"a":1}')),
  lines(answer(2, call('toolu_1', 'Bash', { command: 'ls' }), { id: 'msg_a' })),
  `${JSON.stringify(outcome(3, 'toolu_1', 'out', { toolUseResult: { stdout: 'out' } }))}${JSON.stringify(mode)}\n`,
  lines('42', '[1,2]', '"text"', '{"silly":"this"}', '// comment', mode),
  `{"type":"pr-link","prNu${JSON.stringify(answer(4, text('a'), { id: 'msg_a', usage: { input_tokens: 1, output_tokens: 99 } }))}\n`,
  lines(JSON.stringify(prompt(5, 'over\nlines')).replaceAll('\\n', '\n')),
  `{"type":"progress","data":{"message":${JSON.stringify(prompt(6, 'nested'))}\n`,
  lines(prompt(7, 'after a stub'), prompt(7, 'taken'), prompt(7, 'taken')),
  `${JSON.stringify(prompt(8, 'nul'))}\0\0\0${JSON.stringify(prompt(9, 'after nul'))}\r\n`,
  `${JSON.stringify([prompt(10, 'listed'), mode], null, 2)}\n`,
  lines(
    answer(11, text('b'), { id: 'msg_b' }),
    record(12, { type: 'system', subtype: 'turn_duration', durationMs: 1 }),
  ),
  lines(answer(13, text('c'), { id: 'msg_c' })),
  lines(prompt(14, [image, { type: 'text', text: 'What is it?' }] as never), prompt(15, [image] as never)),
  lines(
    answer(16, call('toolu_2', 'Read', {}), { id: 'msg_d' }),
    outcome(17, 'toolu_2', [image, image] as never),
  ),
].join('');

describe('a transcript that grows', () => {
  it('cut anywhere, gives a prefix of the events of the whole', async () => {
    const bytes = Buffer.from(session);
    const whole = (await readTranscript(bytes)).events;
    expect(whole.length).toBeGreaterThan(25);
    const firstTimed = bytes.indexOf('\n', bytes.indexOf(JSON.stringify(prompt(1, '')).slice(0, 40)));
    let shortest = whole.length;
    // About every eighth byte, and the last one.
    for (let end = bytes.length; end >= firstTimed; end -= 1 + (Math.imul(end, 2654435761) >>> 28)) {
      const { events } = await readTranscript(bytes.subarray(0, end));
      expect(events, `${end} bytes`).toEqual(whole.slice(0, events.length));
      expect(events.length, `${end} bytes`).toBeLessThanOrEqual(shortest);
      shortest = events.length;
    }
    expect(shortest).toBeLessThan(5);
  });

  it('keeps the id of its dispatch', async () => {
    const part = session.slice(0, session.indexOf('\n', session.indexOf('naïve')) + 1);
    const [short, long] = [await readTranscript(part), await readTranscript(session)];
    expect(short.log.dispatchId).toBe(long.log.dispatchId);
    expect(short.log.dispatchId).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  });
});
