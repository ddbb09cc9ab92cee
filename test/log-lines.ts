/** Reads from our own source what it logs. Enough for files that the formatter wrote; what it does not understand it throws at. */

export interface LogLine {
  readonly level: string;
  readonly message: string;
  /** Names of the fields, also of those that are not always there. */
  readonly fields: readonly string[];
}

/** What a spread brings that is not written where it stands. */
export type Spreads = Readonly<Record<string, readonly string[]>>;

/** The level stands there, or a function says it. */
const CALL = /(?:\blog|#log|Log\(\)\))(?:\??\.(debug|info|warn|error)|\[\w+\([^\]]*\)\])\(/g;

/** The log calls of a file, in order. @param spreads what `...name` stands for, by its text */
export function logLinesOf(source: string, spreads: Spreads): LogLine[] {
  return [...source.matchAll(CALL)].flatMap((call) => {
    const [message = '', fields] = split(inside(source, call.index + call[0].length));
    const text = /^'([^']*)'$/.exec(message)?.[1];
    // The message comes from elsewhere: whoever made it is asked.
    if (text === undefined) return [];
    return [
      {
        level: call[1] ?? 'by outcome',
        message: text,
        fields: fields === undefined ? [] : fieldsOf(fields, source.slice(0, call.index), spreads),
      },
    ];
  });
}

/** Lines that are logged elsewhere, from a literal of a message with its fields. */
export function literalLinesOf(source: string, level: string): LogLine[] {
  return [...source.matchAll(/message: '([^']*)', fields: (\{[^}]*\})/g)].map(([, message = '', fields = '']) => ({
    level,
    message,
    fields: fieldsOf(fields, source, {}),
  }));
}

function fieldsOf(expression: string, source: string, spreads: Spreads): string[] {
  const known = spreads[expression];
  if (known !== undefined) return [...known];
  if (/^\w+$/.test(expression)) return fieldsOf(definitionOf(expression, source), source, spreads);
  if (!expression.startsWith('{')) {
    // A condition with an object on each side, or on one.
    const objects = [...expression.matchAll(/\{([^{}]*)\}/g)].map(([object]) => object);
    if (objects.length === 0) throw new Error(`no fields in ${expression}`);
    return objects.flatMap((object) => fieldsOf(object, source, spreads));
  }
  return split(expression.slice(1, -1)).flatMap((member) =>
    member.startsWith('...') ? fieldsOf(unwrapped(member.slice(3)), source, spreads) : (/^\w+/.exec(member)?.[0] ?? []),
  );
}

function unwrapped(expression: string): string {
  return expression.startsWith('(') ? expression.slice(1, -1) : expression;
}

function definitionOf(name: string, source: string): string {
  // The nearest one above: another function may have one of the same name.
  const found = [...source.matchAll(new RegExp(`const ${name}(?:: \\w+)? = ([^;]*);`, 'g'))].at(-1);
  if (found?.[1] === undefined) throw new Error(`nothing says what ${name} holds`);
  return found[1];
}

/** The text from `from` to the bracket that closes what was open there. */
function inside(source: string, from: number): string {
  let depth = 0;
  for (let at = from; at < source.length; at += 1) {
    const character = source[at] as string;
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character) && depth === 0) return source.slice(from, at);
    else if (')]}'.includes(character)) depth -= 1;
    else if ("'`".includes(character)) at = source.indexOf(character, at + 1);
  }
  throw new Error('no end');
}

/** What commas part, those within brackets and texts left alone. */
function split(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if ('([{'.includes(character)) at += inside(text, at + 1).length + 1;
    else if ("'`".includes(character)) at = text.indexOf(character, at + 1);
    else if (character === ',') {
      parts.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  return [...parts, text.slice(from).trim()].filter((part) => part !== '');
}
