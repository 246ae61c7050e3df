import type { RowPart } from '@hansard/views';
import { useState } from 'preact/hooks';

/** Characters. Of a longer text the beginning is shown, until all of it is asked for. */
const longestText = 50_000;

/** The content of a row. Nothing of it is taken as HTML. */
export function Parts({ parts }: { readonly parts: readonly RowPart[] }) {
  return (
    <>
      {parts.map((part, at) => (
        <Part key={at} part={part} />
      ))}
    </>
  );
}

function Part({ part }: { readonly part: RowPart }) {
  switch (part.kind) {
    case 'text':
      return (
        <>
          {part.label === undefined ? null : <h4>{part.label}</h4>}
          <LongText text={part.text} style={part.style} />
        </>
      );
    case 'json':
      return (
        <>
          {part.label === undefined ? null : <h4>{part.label}</h4>}
          <LongText text={JSON.stringify(part.value, null, 2)} style="code" />
        </>
      );
    case 'fields':
      return (
        <dl>
          {part.fields.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      );
    case 'diff':
      return (
        <>
          {part.label === undefined ? null : <h4>{part.label}</h4>}
          <pre class="diff">
            {part.lines.map(({ kind, text }, at) => {
              const Tag = ({ same: 'span', removed: 'del', added: 'ins' } as const)[kind];
              const mark = { same: ' ', removed: '-', added: '+' }[kind];
              return <Tag key={at}>{`${mark} ${text}\n`}</Tag>;
            })}
          </pre>
        </>
      );
    case 'image':
      return <p class="dim">{`[${part.mediaType}, ${part.base64.length} characters]`}</p>;
  }
}

function LongText({ text, style }: { readonly text: string; readonly style: string }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > longestText;
  return (
    <>
      <pre class={`body ${style}`} dir="auto">
        {isCut ? text.slice(0, longestText) : text}
      </pre>
      {isCut ? (
        <button type="button" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en-GB')} characters
        </button>
      ) : null}
    </>
  );
}
