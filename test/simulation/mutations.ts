/**
 * Puts each fault of the table into the sources, in a bundle and never in the files, and lets the simulation look for it:
 * `node test/simulation/mutations.ts --seeds 300`; with `--seeds-only` without the scripted schedules. Exit code 1 where one is not found
 * that could be.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { type Edit, MUTATIONS, type Mutation } from './mutation-table.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** How long one fault may take to be found. A fault may also make the simulation go on for ever. */
const HUNT_MAX_MS = 180_000;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '300' },
    from: { type: 'string', default: '1' },
    only: { type: 'string' },
    'seeds-only': { type: 'boolean' },
  },
});
const dir = mkdtempSync(join(tmpdir(), 'dogwatch-mutations-'));
let missedCount = 0;
try {
  for (const [at, mutation] of MUTATIONS.entries()) {
    if (values.only !== undefined && !mutation.name.includes(values.only)) continue;
    const bundle = join(dir, `mutation-${at}.mjs`);
    await bundleWith(mutation.edits, bundle);
    const result = hunt(bundle, mutation);
    if (!result.isCaught && mutation.isHarmless === undefined) missedCount += 1;
    console.log(
      `${result.isCaught ? 'caught    ' : mutation.isHarmless === undefined ? 'NOT CAUGHT' : 'harmless  '} ${mutation.name}: ${result.text}`,
    );
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
process.exitCode = missedCount > 0 ? 1 : 0;

function hunt(bundle: string, { kinds }: Mutation): { readonly isCaught: boolean; readonly text: string } {
  const texts: string[] = [];
  for (const kind of kinds) {
    const { stdout, stderr, error } = spawnSync(
      process.execPath,
      [bundle, kind, values.from, values.seeds, values['seeds-only'] ? 'seeds-only' : ''],
      {
        timeout: HUNT_MAX_MS,
        encoding: 'utf8',
      },
    );
    if (error !== undefined) return { isCaught: true, text: `kind ${kind} did not come to an end` };
    if (stdout === '') return { isCaught: true, text: `kind ${kind} broke: ${stderr.trim().split('\n').slice(0, 3).join(' ')}` };
    const { found, seedCount } = JSON.parse(stdout) as { found?: { by: string; finding: string }; seedCount: number };
    if (found !== undefined) return { isCaught: true, text: `kind ${kind}, ${found.by} after ${seedCount} seeds: ${found.finding}` };
    texts.push(`kind ${kind}, ${seedCount} seeds`);
  }
  return { isCaught: false, text: texts.join('; ') };
}

async function bundleWith(edits: readonly Edit[], outfile: string): Promise<void> {
  await build({
    entryPoints: [join(ROOT, 'test/simulation/hunt.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // Packages that are CommonJS ask for node: modules by require.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
    plugins: [editing(edits)],
  });
}

/** @throws Error where a text is not in its file */
function editing(edits: readonly Edit[]): Plugin {
  return {
    name: 'edits',
    setup({ onLoad }) {
      for (const file of new Set(edits.map((edit) => edit.file))) {
        const path = join(ROOT, file);
        onLoad({ filter: new RegExp(`${file.replaceAll('/', '[/\\\\]').replaceAll('.', '\\.')}$`) }, () => {
          let contents = readFileSync(path, 'utf8');
          for (const { find, replace } of edits.filter((edit) => edit.file === file)) {
            if (contents.split(find).length !== 2) throw new Error(`${file} has not exactly one ${JSON.stringify(find)}`);
            contents = contents.replace(find, () => replace);
          }
          return { contents, loader: 'ts' };
        });
      }
    },
  };
}
