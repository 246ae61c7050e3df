/** Answers to a question that is asked again before it is answered. An answer to an earlier question never replaces a later one. */
export class LatestAnswer<Answer> {
  #asked = 0;
  #answered = 0;

  /** Null: a later question has been answered already. */
  async of(answer: Promise<Answer>): Promise<Answer | null> {
    this.#asked += 1;
    const number = this.#asked;
    const given = await answer;
    if (number < this.#answered) return null;
    this.#answered = number;
    return given;
  }
}
