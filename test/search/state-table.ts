const FREE = -1;

/** Set of states, which are rows of integers. States are compared in full, not by hash. */
export class StateTable {
  readonly width: number;
  count = 0;
  #cells: Int32Array;
  #parents: Int32Array;
  #slots: Int32Array;

  constructor(width: number) {
    this.width = width;
    this.#cells = new Int32Array(width * 1024);
    this.#parents = new Int32Array(1024);
    this.#slots = new Int32Array(4096).fill(FREE);
  }

  /** Adds a state and returns whether it is new. `parent` is the previous row, or -1 for the first state. */
  add(row: Int32Array, parent: number): boolean {
    const mask = this.#slots.length - 1;
    let slot = this.#hashOf(row, 0) & mask;
    for (let index = this.#slots[slot] ?? FREE; index !== FREE; index = this.#slots[slot] ?? FREE) {
      if (this.#equals(index, row)) return false;
      slot = (slot + 1) & mask;
    }
    if ((this.count + 1) * this.width > this.#cells.length) this.#enlarge();
    this.#cells.set(row, this.count * this.width);
    this.#parents[this.count] = parent;
    this.#slots[slot] = this.count;
    this.count += 1;
    if (this.count * 2 > this.#slots.length) this.#rehash();
    return true;
  }

  read(index: number, into: Int32Array): void {
    const from = index * this.width;
    for (let column = 0; column < this.width; column += 1) into[column] = this.#cells[from + column] ?? 0;
  }

  parentOf(index: number): number {
    return this.#parents[index] ?? FREE;
  }

  #equals(index: number, row: Int32Array): boolean {
    const from = index * this.width;
    for (let column = 0; column < this.width; column += 1) {
      if (this.#cells[from + column] !== row[column]) return false;
    }
    return true;
  }

  #hashOf(cells: Int32Array, from: number): number {
    let hash = 0x9e3779b9;
    for (let column = 0; column < this.width; column += 1) {
      hash = Math.imul(hash ^ (cells[from + column] ?? 0), 0x85ebca6b);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash, 0xc2b2ae35);
    return (hash ^ (hash >>> 13)) >>> 0;
  }

  #enlarge(): void {
    const cells = new Int32Array(this.#cells.length * 2);
    cells.set(this.#cells);
    this.#cells = cells;
    const parents = new Int32Array(this.#parents.length * 2);
    parents.set(this.#parents);
    this.#parents = parents;
  }

  #rehash(): void {
    const slots = new Int32Array(this.#slots.length * 2).fill(FREE);
    const mask = slots.length - 1;
    for (let index = 0; index < this.count; index += 1) {
      let slot = this.#hashOf(this.#cells, index * this.width) & mask;
      while (slots[slot] !== FREE) slot = (slot + 1) & mask;
      slots[slot] = index;
    }
    this.#slots = slots;
  }
}
