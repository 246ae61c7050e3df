/**
 * A string with the event of its content. Other code can use it as a string: `String(line)`, `` `${line}` `` and JSON return
 * the text, and the methods of strings work. `harken` and `inform` read the substance from it.
 */
export class LoggedString extends String {
  /** The event with this content: that of the original, even if the text was reworded. */
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
