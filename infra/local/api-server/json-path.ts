/** The simple JSON paths that printer columns use: fields, indexes, `[*]`, and filters by equality such as `[?(@.type=="Ready")]`. */
import { isJsonObject } from './api-object.ts';

type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly at: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly path: readonly Step[]; readonly isEqual: boolean; readonly value: string };

const TOKEN = new RegExp(
  [
    String.raw`\.((?:[^.[\]\\]|\\.)+)`, // .field, with \. for a dot
    String.raw`\['([^']+)'\]`,
    String.raw`\[(-?\d+)\]`,
    String.raw`(\[\*\]|\.\*)`,
    String.raw`\[\?\(@((?:\.[^=!\s]+))\s*(==|!=)\s*["']?([^"')]*)["']?\)\]`,
  ].join('|'),
  'y',
);

const parsed = new Map<string, readonly Step[]>();

/** What the path finds in a value, in order; nothing where it leads nowhere or cannot be read. */
export function findAll(path: string, value: unknown): unknown[] {
  const steps = parsed.get(path) ?? parse(path);
  parsed.set(path, steps);
  return follow(steps, value);
}

function parse(path: string): Step[] {
  const text = path.startsWith('.') || path.startsWith('[') ? path : `.${path}`;
  const steps: Step[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const found = TOKEN.exec(text);
    if (found === null) return [{ kind: 'filter', path: [], isEqual: true, value: '' }];
    const [, field, quoted, index, all, inner, sign, value] = found;
    if (all !== undefined || field === '*') steps.push({ kind: 'all' });
    else if (field !== undefined) steps.push({ kind: 'field', name: field.replace(/\\(.)/g, '$1') });
    else if (quoted !== undefined) steps.push({ kind: 'field', name: quoted });
    else if (index !== undefined) steps.push({ kind: 'index', at: Number(index) });
    else {
      const last = TOKEN.lastIndex;
      const path = parse(inner ?? '');
      TOKEN.lastIndex = last;
      steps.push({ kind: 'filter', path, isEqual: sign === '==', value: value ?? '' });
    }
  }
  return steps;
}

function follow(steps: readonly Step[], value: unknown): unknown[] {
  let found: unknown[] = [value];
  for (const step of steps) found = found.flatMap((each) => next(step, each));
  return found;
}

function next(step: Step, value: unknown): unknown[] {
  switch (step.kind) {
    case 'field':
      return isJsonObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'index': {
      const item = Array.isArray(value) ? value.at(step.at) : undefined;
      return item === undefined ? [] : [item];
    }
    case 'all':
      return Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
    case 'filter':
      if (!Array.isArray(value)) return [];
      return value.filter((item) => follow(step.path, item).some((each) => String(each) === step.value) === step.isEqual);
  }
}
