/** What infra/watcher/Dockerfile puts into the watcher's image, read from it, so that tests run that without Docker and cannot drift. */
import { chmodSync, copyFileSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const PATH = join(root, 'infra/watcher/Dockerfile');

export interface Image {
  /** Of `ARG NODE_IMAGE`. */
  readonly base: string;
  readonly workdir: string;
  readonly copies: readonly { readonly from: string; readonly to: string }[];
  readonly env: Readonly<Record<string, string>>;
  readonly uid: number;
  readonly gid: number;
  readonly command: readonly string[];
}

/** @throws Error for an instruction that this reader does not know: it would run something else than the image */
export function readImage(): Image {
  const lines = readFileSync(PATH, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const copies: { from: string; to: string }[] = [];
  const env: Record<string, string> = {};
  let [base, workdir, uid, gid] = ['', '', 0, 0];
  let command: readonly string[] = [];
  for (const line of lines) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    const words = rest.split(' ');
    switch (instruction) {
      case 'ARG':
        base = rest.replace('NODE_IMAGE=', '');
        break;
      case 'FROM':
        if (!/^\$\{NODE_IMAGE\}$/.test(rest)) throw new Error(`another base: ${line}`);
        break;
      case 'WORKDIR':
        workdir = rest;
        break;
      case 'COPY':
        if (words.length !== 2) throw new Error(`not one source and one target: ${line}`);
        copies.push({ from: words[0] ?? '', to: words[1] ?? '' });
        break;
      case 'ENV':
        for (const word of words) env[word.split('=')[0] ?? ''] = word.split('=')[1] ?? '';
        break;
      case 'USER':
        [uid, gid] = rest.split(':').map(Number) as [number, number];
        break;
      case 'CMD':
        command = JSON.parse(rest) as string[];
        break;
      case 'EXPOSE':
        break;
      default:
        throw new Error(`not known: ${line}`);
    }
  }
  return { base, workdir, copies, env, uid, gid, command };
}

/** Files of the build context that Docker sees: those that Dockerfile.dockerignore lets through. */
function isSent(path: string): boolean {
  let sent = true;
  for (const line of readFileSync(`${PATH}.dockerignore`, 'utf8').split('\n').filter(Boolean)) {
    const [pattern, lets] = line.startsWith('!') ? [line.slice(1), true] : [line, false];
    const regex = new RegExp(`^${pattern.replace(/[.+]/g, '\\$&').replace('*', '[^/]*')}(/|$)`);
    if (regex.test(path)) sent = lets;
  }
  return sent;
}

/**
 * Makes `into` what the image's working folder is, read-only, from the files that were built into `dist`; their names.
 *
 * @param dist  in the place of the folder `dist` of the build context
 */
export function layOut(image: Image, dist: string, into: string): readonly string[] {
  mkdirSync(into, { recursive: true });
  const names = image.copies.flatMap(({ from, to }) => {
    if (to !== './' || !from.startsWith('dist/')) throw new Error(`COPY ${from} ${to}: not from dist to the working folder`);
    return globSync(from.slice('dist/'.length), { cwd: dist }).filter((name) => isSent(`dist/${name}`));
  });
  for (const name of names) {
    copyFileSync(join(dist, name), join(into, basename(name)));
    chmodSync(join(into, basename(name)), 0o444);
  }
  chmodSync(into, 0o555);
  return names.sort();
}
