/** Many small values of one form, packed: an object for each of a hundred thousand takes several times the room. */

type Numbers = Float64Array | Uint32Array | Uint8Array;

/** Fewer are not worth a smaller array. */
const ROOM_MIN = 64;
/** Of a full column: less is copied more often, more stays empty. */
const GROWTH = 1.3;

/** The column, or a larger one with what it holds, so that there is a place for `index`. */
export function withRoom<Column extends Numbers>(column: Column, index: number): Column {
  if (index < column.length) return column;
  const Larger = column.constructor as new (length: number) => Column;
  const larger = new Larger(Math.max(ROOM_MIN, Math.ceil(column.length * GROWTH), index + 1));
  larger.set(column);
  return larger;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UUID_BYTES = 16;
/** Stands for none. */
const NIL = '00000000-0000-0000-0000-000000000000';

/** Ids by their number: a UUID takes 16 bytes, anything else is kept as it is. */
export class PackedIds {
  #bytes = Buffer.alloc(0);
  readonly #others = new Map<number, string>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** The number of the id, from 0 on. */
  add(id: string | undefined): number {
    const number = this.#count;
    this.#count += 1;
    if (this.#count * UUID_BYTES > this.#bytes.length) this.#grow();
    if (id === undefined) return number;
    if (UUID.test(id) && id !== NIL) this.#bytes.write(id.replaceAll('-', ''), number * UUID_BYTES, 'hex');
    else this.#others.set(number, id);
    return number;
  }

  at(number: number): string | undefined {
    const other = this.#others.get(number);
    if (other !== undefined) return other;
    const hex = this.#bytes.toString('hex', number * UUID_BYTES, (number + 1) * UUID_BYTES);
    const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    return id === NIL ? undefined : id;
  }

  #grow(): void {
    const larger = Buffer.alloc(Math.max(ROOM_MIN, Math.ceil(this.#count * GROWTH)) * UUID_BYTES);
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}

/** A set of ids, each with its number. */
export class NumberedIds {
  readonly #ids = new PackedIds();
  /** Numbers plus one by what the id hashes to, else the next free place; at most half full. */
  #places = new Uint32Array(2 * ROOM_MIN);

  get count(): number {
    return this.#ids.count;
  }

  /** The number of the id, and whether it is new. */
  add(id: string): { readonly number: number; readonly isNew: boolean } {
    const place = this.#placeOf(id);
    const known = this.#places[place] as number;
    if (known > 0) return { number: known - 1, isNew: false };
    const number = this.#ids.add(id);
    this.#places[place] = number + 1;
    if (this.count * 2 > this.#places.length) this.#grow();
    return { number, isNew: true };
  }

  #placeOf(id: string): number {
    const mask = this.#places.length - 1;
    let place = hashOf(id) & mask;
    for (let known = this.#places[place] as number; known > 0 && this.#ids.at(known - 1) !== id; known = this.#places[place] as number)
      place = (place + 1) & mask;
    return place;
  }

  #grow(): void {
    const count = this.count;
    this.#places = new Uint32Array(this.#places.length * 2);
    for (let number = 0; number < count; number += 1) this.#places[this.#placeOf(this.#ids.at(number) as string)] = number + 1;
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
