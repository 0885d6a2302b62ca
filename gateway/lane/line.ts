/** First come, first served; anyone may leave the line at any place. A queue policy: replace it to have another one. */
export class Line<T> {
  readonly #members = new Set<T>();

  get length(): number {
    return this.#members.size;
  }

  join(member: T): void {
    this.#members.add(member);
  }

  /** Whether the member was still in line. */
  leave(member: T): boolean {
    return this.#members.delete(member);
  }

  next(): T | undefined {
    for (const member of this.#members) {
      this.#members.delete(member);
      return member;
    }
    return undefined;
  }

  /** Empties the line and returns who stood in it, in order. */
  dissolve(): T[] {
    const members = [...this.#members];
    this.#members.clear();
    return members;
  }
}
