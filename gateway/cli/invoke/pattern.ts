/** Repeats without an end are written out this often at least. */
const MAX_REPEAT = 1_000;

/**
 * A short text that matches a regular expression, made from the expression without ever running it: one that somebody else
 * wrote can take longer than anybody waits. `least`: how long it should be where a repeat without an end allows it.
 * Undefined for what is not understood here: look-arounds, back-references, boundaries, properties.
 */
export function textMatching(pattern: string, least = 0): string | undefined {
  try {
    const short = new Reader(pattern, 0).whole();
    if (short.length >= least) return short;
    return new Reader(pattern, least - short.length).whole();
  } catch (error) {
    if (error instanceof NotUnderstood) return undefined;
    throw error;
  }
}

class NotUnderstood extends Error {}

/** Reads an expression from left to right, writing down what it reads; of alternatives the first counts. */
class Reader {
  readonly #pattern: string;
  /** Characters that the first endless repeat adds. */
  #more: number;
  #at = 0;

  constructor(pattern: string, more: number) {
    this.#pattern = pattern;
    this.#more = more;
  }

  whole(): string {
    const text = this.#alternatives();
    if (this.#at < this.#pattern.length) throw new NotUnderstood();
    return text;
  }

  #alternatives(): string {
    const first = this.#sequence();
    while (this.#take('|')) this.#sequence();
    return first;
  }

  #sequence(): string {
    let text = '';
    while (this.#at < this.#pattern.length && !this.#sees('|') && !this.#sees(')')) {
      if (this.#take('^')) {
        if (text !== '') throw new NotUnderstood();
      } else if (this.#take('$')) {
        if (this.#at < this.#pattern.length && !this.#sees('|') && !this.#sees(')')) throw new NotUnderstood();
      } else text += this.#repeated();
    }
    return text;
  }

  #repeated(): string {
    const one = this.#one();
    const { least, isEndless } = this.#repeat();
    if (least > MAX_REPEAT) throw new NotUnderstood();
    if (!isEndless || one === '') return one.repeat(least);
    const more = Math.min(Math.ceil(this.#more / one.length), MAX_REPEAT * 100);
    this.#more = 0;
    return one.repeat(least + more);
  }

  /** `*` and `+` and their like; `?` gives none, a lazy or possessive mark changes nothing. */
  #repeat(): { least: number; isEndless: boolean } {
    let found = { least: 1, isEndless: false };
    const braces = /^\{(\d+)(?:(,)(\d*))?\}/.exec(this.#pattern.slice(this.#at));
    if (this.#take('*')) found = { least: 0, isEndless: true };
    else if (this.#take('+')) found = { least: 1, isEndless: true };
    else if (this.#take('?')) found = { least: 0, isEndless: false };
    else if (braces === null) return found;
    else {
      this.#at += braces[0].length;
      found = { least: Number(braces[1]), isEndless: braces[2] !== undefined && braces[3] === '' };
    }
    this.#take('?');
    return found;
  }

  #one(): string {
    const character = this.#next();
    switch (character) {
      case '(':
        return this.#group();
      case '[':
        return this.#set();
      case '.':
        return 'x';
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
      case '{':
        throw new NotUnderstood();
      default:
        return character;
    }
  }

  #group(): string {
    if (this.#take('?')) {
      const name = /^(?::|<[A-Za-z_$][\w$]*>)/.exec(this.#pattern.slice(this.#at))?.[0];
      if (name === undefined) throw new NotUnderstood();
      this.#at += name.length;
    }
    const text = this.#alternatives();
    if (!this.#take(')')) throw new NotUnderstood();
    return text;
  }

  /** The first of what is in the brackets; of what is not in them, a letter or digit. */
  #set(): string {
    const isNot = this.#take('^');
    const ranges: [number, number][] = [];
    while (!this.#take(']')) {
      const isClass = this.#sees('\\') && /^\\[dws]/.test(this.#pattern.slice(this.#at));
      const first = this.#setMember();
      if (isNot && isClass) throw new NotUnderstood();
      const isRange = this.#sees('-') && this.#pattern[this.#at + 1] !== ']' && this.#at + 1 < this.#pattern.length;
      if (isRange) this.#at += 1;
      ranges.push([codeOf(first), codeOf(isRange ? this.#setMember() : first)]);
    }
    const [range] = ranges;
    if (range === undefined) throw new NotUnderstood();
    if (!isNot) return String.fromCodePoint(preferred(range));
    const free = ['x', 'X', '0', '-', '_', ' ', '.'].find(
      (character) => !ranges.some(([from, to]) => from <= codeOf(character) && codeOf(character) <= to),
    );
    if (free === undefined) throw new NotUnderstood();
    return free;
  }

  #setMember(): string {
    const character = this.#next();
    return character === '\\' ? this.#escape() : character;
  }

  #escape(): string {
    const character = this.#next();
    const known: Readonly<Record<string, string>> = {
      d: '0',
      w: 'x',
      s: ' ',
      D: 'x',
      W: ' ',
      S: 'x',
      t: '\t',
      n: '\n',
      r: '\r',
    };
    if (Object.hasOwn(known, character)) return known[character] ?? '';
    const code = /^(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))/.exec(this.#pattern.slice(this.#at - 1));
    if (code !== null) {
      this.#at += code[0].length - 1;
      return String.fromCodePoint(Number.parseInt(code[1] ?? code[2] ?? '', 16));
    }
    if (/[A-Za-z0-9]/.test(character)) throw new NotUnderstood();
    return character;
  }

  #sees(character: string): boolean {
    return this.#pattern[this.#at] === character;
  }

  #take(character: string): boolean {
    if (!this.#sees(character)) return false;
    this.#at += 1;
    return true;
  }

  /** By code point, as with the flag that JSON Schema's patterns have. */
  #next(): string {
    const code = this.#pattern.codePointAt(this.#at);
    if (code === undefined) throw new NotUnderstood();
    const character = String.fromCodePoint(code);
    this.#at += character.length;
    return character;
  }
}

/** Of a long range that begins with a control or a blank, a letter. */
function preferred([from, to]: readonly [number, number]): number {
  return from <= 0x20 && to >= codeOf('x') ? codeOf('x') : from;
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
