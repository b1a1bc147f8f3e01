/** How the list ended: `closed` with its bracket, `open` without one. */
export type ArrayEnd = 'closed' | 'open';

/** Yields the JSON objects of one list as their bytes arrive. Throws an Error for other text between them. */
export async function* readElements(response: Response): AsyncGenerator<string, ArrayEnd> {
  if (!response.body) throw new Error('a response without a body');
  const decoder = new TextDecoder();
  const scanner = new ElementScanner();
  for await (const bytes of response.body) yield* scanner.take(decoder.decode(bytes, { stream: true }));
  return scanner.end();
}

export async function allElements(response: Response): Promise<{ elements: readonly string[]; end: ArrayEnd }> {
  const reader = readElements(response);
  const elements: string[] = [];
  for (;;) {
    const next = await reader.next();
    if (next.done) return { elements, end: next.value };
    elements.push(next.value);
  }
}

class ElementScanner {
  #element = '';
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Text outside the elements, without white space. */
  #outside = '';
  #count = 0;

  *take(text: string): Generator<string, void> {
    for (const character of text) {
      if (this.#depth === 0 && character !== '{') this.#outside += character.trim();
      else {
        this.#element += character;
        this.#step(character);
        if (this.#depth === 0) yield this.#complete();
      }
    }
  }

  end(): ArrayEnd {
    const begun = `[${','.repeat(Math.max(0, this.#count - 1))}`;
    if (this.#depth === 0 && this.#outside === `${begun}]`) return 'closed';
    if (this.#depth === 0 && this.#outside === begun) return 'open';
    throw new Error(`no list: ${this.#outside}${this.#element}`);
  }

  #complete(): string {
    const element = this.#element;
    this.#element = '';
    if (this.#outside !== `[${','.repeat(this.#count)}`) throw new Error(`no list before an element: ${this.#outside}`);
    this.#count += 1;
    return element;
  }

  #step(character: string): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (character === '\\') this.#escaped = true;
      else if (character === '"') this.#inString = false;
    } else if (character === '"') this.#inString = true;
    else if (character === '{') this.#depth += 1;
    else if (character === '}') this.#depth -= 1;
  }
}
