/**
 * Text, with the event whose content it is: what agents and tools say and receive. Other code can use it as a string:
 * `String(line)`, `` `${line}` ``, `line + '!'` and JSON give the text, and the methods of strings work. It is an object, so use `text`
 * for `===`, `switch`, schemas and keys of maps. Code that records it reads the event, so that it becomes the substance of what others receive.
 */
export class LoggedString extends String {
  /** The event with this content: that of the original, even if the text was reworded. */
  readonly messageId: string;

  constructor(text: string, messageId: string) {
    super(text);
    this.messageId = messageId;
  }

  /** The text as a primitive string, for what compares with `===` or wants a `string`. */
  get text(): string {
    return this.valueOf();
  }

  /** The same content in other words, such as with the speaker's name in front. */
  reworded(text: string): LoggedString {
    return new LoggedString(text, this.messageId);
  }
}
