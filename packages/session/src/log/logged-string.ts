/**
 * A string that knows whose content it is. Operational code takes it for a string: `String(line)`, `` `${line}` `` and
 * JSON give the text, and the methods of strings work. `harken` and `inform` take the substance from it.
 */
export class LoggedString extends String {
  /** The event whose content this is: for an original its own, for other words for it that of the original. */
  readonly messageId: string;

  constructor(text: string, messageId: string) {
    super(text);
    this.messageId = messageId;
  }

  /** The same content in other words, such as with the speaker's name in front. */
  reworded(text: string): LoggedString {
    return new LoggedString(text, this.messageId);
  }
}
