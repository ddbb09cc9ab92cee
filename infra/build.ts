/**
 * Builds what is deployed: `node infra/build.ts [--reconcilers FILE] [--include FILE]... [--out DIR]`.
 *
 * CommonJS files, because Node loads those faster, and the function's zip, byte-identical for identical input. Each comes with
 * a source map, which stays out of the zip: reading it would more than double what a cold start spends on loading (40 ms without,
 * 104 ms with it). Files beside the others, loaded when first needed, are the SQS client (dist/sqs.cjs), what reaches clusters by way of
 * AWS (dist/aws.cjs), the runner of credential plugins (dist/exec-plugin.cjs, for the watcher only), and every package that a reconciler
 * loads by import(). The command writes `dogwatch/testing` too (build-testing.ts), which is not deployed.
 */
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type BuildFailure, build as esbuild, formatMessages, type Plugin } from 'esbuild';
import { zipSync } from 'fflate';
import { ConfigError } from '../functions/core/errors.ts';
import {
  keepOutGeneratedClient,
  leaveOutJsonSchemas,
  leaveOutLogins,
  leaveOutUnusedClients,
  leaveOutUnusedYaml,
  loadFromFileBeside,
  loadPackagesFromBeside,
  type PackageBeside,
  replaceModule,
  sharePackagesBeside,
} from './build-plugins.ts';
import { buildTesting } from './build-testing.ts';
import { type Bundle, checkFunctionBundle } from './bundle-limits.ts';

const ROOT = resolve(import.meta.dirname, '..');
/** Modules of ours that are files of their own, by their names in the output folder. */
const LOADED_WHEN_NEEDED = {
  'sqs.cjs': join(ROOT, 'functions/adapters/sqs.ts'),
  'aws.cjs': join(ROOT, 'functions/adapters/aws.ts'),
  'exec-plugin.cjs': join(ROOT, 'functions/adapters/kubernetes/exec-plugin.ts'),
} as const;
/** No function runs plugins. */
const NOT_ZIPPED = ['exec-plugin.cjs'];
const RECONCILERS = join(ROOT, 'functions/reconcilers/index.ts');

/** What is loaded when a process starts, and where each begins; the first one is the function. */
const LOADED_AT_START = {
  'reconcile.cjs': join(ROOT, 'functions/reconcile/handler.ts'),
  'watcher.cjs': join(ROOT, 'functions/watcher/main.ts'),
} as const;
/** The command line for dead letters, which no unit loads. It works at a queue always, so that its part of the SQS adapter is in it. */
const REPLAY = {
  name: 'replay.cjs',
  entry: join(ROOT, 'functions/cli/replay-bundle.ts'),
  besides: ['aws.cjs', 'exec-plugin.cjs'],
} as const;

export interface BuildOptions {
  /** Module that exports `reconcilers` in place of functions/reconcilers/index.ts; relative to the working directory. */
  readonly reconcilers?: string;
  /** Files for the function's zip, beside the code: a cluster registry without secrets; relative to the working directory. */
  readonly include?: readonly string[];
  /** Default: dist in the project's folder. */
  readonly out?: string;
  /** Prints nothing. */
  readonly quiet?: boolean;
}

export interface BuildResult {
  /** Names are relative to the output folder. */
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
}

/**
 * Writes all files to the output folder, which is made where it is absent; nothing is written before all was built and checked.
 *
 * @throws ConfigError `reconcilers-missing`, `include-refused`, `bundle-too-large`, `bundle-unwanted`; esbuild's BuildFailure for faults in the code
 */
export async function build(options: BuildOptions = {}): Promise<BuildResult> {
  const out = resolve(options.out ?? join(ROOT, 'dist'));
  const reconcilers = options.reconcilers ?? RECONCILERS;
  const packages = new Map<string, PackageBeside>();
  const leaveOut = [leaveOutUnusedClients, leaveOutLogins, leaveOutJsonSchemas, leaveOutUnusedYaml, keepOutGeneratedClient];
  const besides = (names: readonly string[]): Plugin[] =>
    Object.entries(LOADED_WHEN_NEEDED).flatMap(([name, file]) => (names.includes(name) ? [loadFromFileBeside(file, name)] : []));
  const common = [...leaveOut, loadPackagesFromBeside(packages), ...reconcilersPlugin(options)];
  const plugins = [...besides(Object.keys(LOADED_WHEN_NEEDED)), ...common];
  const files = new Map<string, Uint8Array>();
  const add = async (name: string, entry: string, using: Plugin[]): Promise<void> => {
    const { code, map, inputs, shares } = await bundle(entry, join(out, name), using);
    if (name === 'reconcile.cjs') checkFunctionBundle({ entry: inputName(entry), reconcilers: inputName(reconcilers), inputs, shares });
    files.set(name, code).set(`${name}.map`, map);
  };
  await Promise.all(Object.entries(LOADED_AT_START).map(([name, entry]) => add(name, entry, plugins)));
  // Only now it is known what reconcilers load.
  const later = [...packages.values()].sort((a, b) => (a.outFile < b.outFile ? -1 : 1));
  const shared = [...plugins, sharePackagesBeside(packages)];
  await Promise.all([
    ...Object.entries(LOADED_WHEN_NEEDED).map(([name, file]) => add(name, file, shared)),
    ...later.map(({ outFile, entry }) => add(outFile, entry, plugins)),
    add(REPLAY.name, REPLAY.entry, [sharePackagesBeside(packages), ...besides(REPLAY.besides), ...common]),
  ]);
  const whenNeeded = Object.keys(LOADED_WHEN_NEEDED).filter((name) => !NOT_ZIPPED.includes(name));
  const zipped = ['reconcile.cjs', ...whenNeeded, ...later.map(({ outFile }) => outFile)];
  const contents = zipped.map((name) => [name, files.get(name) ?? new Uint8Array()] as const);
  files.set('reconcile.zip', zipSync(Object.fromEntries([...contents, ...included(options, zipped)]), ZIP_OPTIONS));

  mkdirSync(out, { recursive: true });
  for (const [name, bytes] of files) replaceFile(join(out, name), bytes);
  const sizes = [...zipped, 'watcher.cjs', ...NOT_ZIPPED, REPLAY.name, 'reconcile.zip'].map((name) => ({
    name,
    bytes: files.get(name)?.length ?? 0,
  }));
  if (options.quiet !== true) printTable(sizes, files);
  return { files: sizes };
}

/** By their base names, none of which is a file of ours. */
function included({ include = [] }: BuildOptions, ours: readonly string[]): [name: string, bytes: Uint8Array][] {
  return include.map((path) => {
    const file = resolve(path);
    const name = basename(file);
    const facts = { facts: { file } };
    if (!existsSync(file)) throw new ConfigError('include-refused', `there is no file ${file}: --include takes one for the zip`, facts);
    if (ours.includes(name))
      throw new ConfigError('include-refused', `${name} is a file of the build: --include it by another name`, facts);
    return [name, readFileSync(file)];
  });
}

/** Time, system and access rights are the same always. The date is built from parts, because zips hold local time. */
const ZIP_OPTIONS = { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o100_644 << 16 } as const;

/** Nobody who reads the file meanwhile finds half of it. */
function replaceFile(path: string, bytes: Uint8Array): void {
  const partial = `${path}.${process.pid}.tmp`;
  writeFileSync(partial, bytes);
  renameSync(partial, path);
}

interface Bundled extends Pick<Bundle, 'inputs' | 'shares'> {
  readonly code: Uint8Array;
  readonly map: Uint8Array;
}

async function bundle(entry: string, outfile: string, plugins: Plugin[]): Promise<Bundled> {
  const { outputFiles, metafile } = await esbuild({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile,
    write: false,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    nodePaths: [join(ROOT, 'node_modules')], // for reconcilers that lie elsewhere
    supported: { 'dynamic-import': false }, // require() instead: import() would go through the loader of ES modules, which is slower
    minify: true,
    legalComments: 'none',
    sourcemap: 'linked', // for Node with --enable-source-maps: without it the link costs nothing
    metafile: true,
    logLevel: 'silent',
    plugins,
  });
  const contents = (ending: string): Uint8Array | undefined => outputFiles.find(({ path }) => path.endsWith(ending))?.contents;
  const [code, map] = [contents('.cjs'), contents('.map')];
  const shares = Object.entries(metafile.outputs).find(([path]) => path.endsWith('.cjs'))?.[1].inputs;
  if (code === undefined || map === undefined || shares === undefined) throw new Error(`esbuild made no ${outfile}`);
  return { code, map, inputs: metafile.inputs, shares };
}

/** As esbuild names an input. */
function inputName(file: string): string {
  return relative(ROOT, realpathSync(file)).replaceAll(sep, '/');
}

function reconcilersPlugin({ reconcilers }: BuildOptions): Plugin[] {
  if (reconcilers === undefined) return [];
  const file = resolve(reconcilers);
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === true) return [replaceModule(RECONCILERS, file)];
  throw new ConfigError('reconcilers-missing', `there is no file ${file}: --reconcilers takes a module that exports reconcilers`, {
    facts: { file },
  });
}

function printTable(sizes: BuildResult['files'], files: ReadonlyMap<string, Uint8Array>): void {
  const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`.padStart(10);
  const width = Math.max(...sizes.map(({ name }) => name.length)) + 2;
  console.log(`${'file'.padEnd(width)}${'size'.padStart(10)}${'gzip'.padStart(10)}`);
  for (const { name, bytes } of sizes) {
    const zipped = name.endsWith('.zip') ? '' : kilobytes(gzipSync(files.get(name) ?? '').length);
    console.log(`${name.padEnd(width)}${kilobytes(bytes)}${zipped}`);
  }
}

/** The command. What is wrong with the code is shown as esbuild shows it, everything else that may be wrong in one line. */
async function main(): Promise<void> {
  try {
    const { values } = parseArgs({
      options: { reconcilers: { type: 'string' }, include: { type: 'string', multiple: true }, out: { type: 'string' } },
    });
    await build(values);
    await buildTesting(resolve(values.out ?? join(ROOT, 'dist')));
  } catch (error) {
    if (error instanceof ConfigError || isBadArgument(error)) console.error(`build: ${error.message}`);
    else if (isBuildFailure(error))
      console.error((await formatMessages(error.errors, { kind: 'error', color: process.stderr.isTTY })).join(''));
    else throw error;
    process.exitCode = isBadArgument(error) ? 2 : 1;
  }
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}

function isBadArgument(error: unknown): error is Error {
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

// Not awaited: require, by which test/together loads it, takes no module that waits.
if (import.meta.main) void main();
