/** The style sheet of a task page. Agents are identified by name; colour is only an aid. */
export const pageStyle = `
:root { color-scheme: light dark; --line: #8884; --dim: #6b6b6b; --bad: #b3261e; --good: #1b6e3a; --notice: #8a5a00; --card: #8881; }
@media (prefers-color-scheme: dark) { :root { --dim: #a2a2a2; --bad: #ff8a80; --good: #7ddc9b; --notice: #ffc46b; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.5rem; margin: 0 0 1rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scroll { overflow-x: auto; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; font-size: .9rem; margin: .5rem 0 1rem; }
dl.facts dt { color: var(--dim); }
dl.facts dd { margin: 0; overflow-wrap: anywhere; }
details.lens { margin: .75rem 0; }
details.lens > summary { font-weight: 600; cursor: pointer; }
ol.rows { list-style: none; margin: .5rem 0; padding: 0; }
ol.rows > li { display: grid; grid-template-columns: 4.5rem 8rem 7rem 1fr; gap: .1rem .75rem; padding: .3rem 0; border-bottom: 1px solid var(--line); }
ol.rows > li > * { min-width: 0; }
ol.said > li { grid-template-columns: minmax(5rem, 12rem) 1fr; }
time, .kind, .heard { color: var(--dim); font-size: .85rem; overflow-wrap: anywhere; }
time { font-variant-numeric: tabular-nums; }
.who { font-weight: 600; overflow-wrap: anywhere; }
.text, .outcome, .target { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; }
.outcome, .target { font: .85rem/1.45 ui-monospace, monospace; }
.outcome { background: var(--card); padding: .25rem .5rem; border-radius: .25rem; margin-top: .25rem; }
.long > summary { cursor: pointer; color: var(--dim); overflow-wrap: anywhere; }
.dim { color: var(--dim); } .bad { color: var(--bad); } .good { color: var(--good); } .notice { color: var(--notice); }
.result { border-left: 3px solid var(--good); padding-left: .75rem; margin: .75rem 0; }
img.observed { max-width: 100%; max-height: 24rem; display: block; }
footer { margin-top: 3rem; color: var(--dim); font-size: .85rem; }
@media (max-width: 44rem) {
  ol.rows > li, ol.said > li { display: flex; flex-wrap: wrap; align-items: baseline; }
  ol.rows > li > div { flex-basis: 100%; }
}
@media print { details::details-content { content-visibility: visible; block-size: auto; } a { color: inherit; } }
`;
