/**
 * The programs of a real Kubernetes control plane, built from Go modules: one binary, four links, once per version and user.
 * `node infra/local/control-plane/build.ts` builds what is missing and prints the folder.
 */
import { constants } from 'node:fs';
import { access, mkdir, readFile, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ConfigError, cutText } from '../../../functions/core/errors.ts';
import { exitWithOneLine } from '../one-line.ts';
import { isNotFound, runCommand } from '../run-command.ts';
import { cached, hashFiles, userCacheDir } from '../user-cache.ts';

export type Program = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kubectl';

const programs: readonly Program[] = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'];

/** The programs that a control plane needs, with or without its controllers. */
export function programsFor(options: { readonly controllers: boolean }): readonly Program[] {
  return options.controllers ? programs : programs.filter((program) => program !== 'kube-controller-manager');
}

const SOURCE_DIR = import.meta.dirname;
/** The path of every source, in the order of the hash. */
const SOURCES = ['go.mod', 'go.sum', 'main.go'].map((name) => join(SOURCE_DIR, name));
/** -trimpath, CGO_ENABLED and the flags are part of the key of Go's build cache: one changed, and the next build is a cold one. */
const BUILD_ARGS = ['build', '-trimpath', '-buildvcs=false', '-ldflags=-s -w'];
const BUILD_TIMEOUT_SECONDS = 45 * 60;

/**
 * The folder that holds the programs: `KUBEBUILDER_ASSETS` as it is where that is set, else our own, built first when missing
 * (one line on standard error before and one after).
 *
 * @param needed  the programs that must be there
 * @throws ConfigError when `KUBEBUILDER_ASSETS` lacks one of them, and when Go is missing, too old, or fails to build
 */
export async function controlPlaneAssets(needed: readonly Program[] = programs, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const given = env['KUBEBUILDER_ASSETS'];
  if (given !== undefined && given !== '') return await checkGiven(resolve(given), needed);
  const entry = await cached({
    parent: join(userCacheDir(env), 'control-plane'),
    version: await hashFiles(SOURCES),
    contains: programs.map((program) => join('bin', program)),
    build: (dir) => build(dir, env),
  });
  return join(entry, 'bin');
}

async function checkGiven(dir: string, needed: readonly Program[]): Promise<string> {
  for (const program of needed) {
    const file = join(dir, program);
    try {
      await access(file, constants.X_OK);
    } catch (cause) {
      throw new ConfigError('assets-incomplete', 'KUBEBUILDER_ASSETS lacks a program; add it, or unset the variable to build all of them', {
        cause,
        facts: { file },
      });
    }
  }
  return dir;
}

async function build(dir: string, env: NodeJS.ProcessEnv): Promise<void> {
  const goEnv = { ...env, CGO_ENABLED: '0', GOWORK: 'off' };
  await checkGo(goEnv);
  const startedAt = performance.now();
  console.error('Building etcd, kube-apiserver, kube-controller-manager and kubectl with Go (about four minutes the first time) ...');
  const bin = join(dir, 'bin');
  await mkdir(bin);
  const result = await runCommand('go', [...BUILD_ARGS, '-o', join(bin, 'assets'), '.'], {
    cwd: SOURCE_DIR,
    env: goEnv,
    timeoutSeconds: BUILD_TIMEOUT_SECONDS,
  });
  if (result.code !== 0) {
    console.error(result.stderr.trimEnd().split('\n').slice(-20).join('\n'));
    throw new ConfigError('go-build-failed', 'go build of the control plane failed; its last lines are above', {
      facts: { exitCode: result.code ?? String(result.signal) },
    });
  }
  for (const program of programs) await symlink('assets', join(bin, program));
  console.error(`Built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}

/** Go downloads a newer toolchain by itself from 1.21 on, unless GOTOOLCHAIN forbids it: so ask inside the module. */
async function checkGo(env: NodeJS.ProcessEnv): Promise<void> {
  const wanted = /^go (\d+\.\d+(?:\.\d+)?)$/m.exec(await readFile(join(SOURCE_DIR, 'go.mod'), 'utf8'))?.[1] ?? '1.26';
  const result = await runCommand('go', ['env', 'GOVERSION'], { cwd: SOURCE_DIR, env, timeoutSeconds: 600 }).catch((cause: unknown) => {
    if (!isNotFound(cause)) throw cause;
    throw new ConfigError('go-missing', 'Go is not installed; install it from https://go.dev/dl, or set KUBEBUILDER_ASSETS', {
      cause,
      facts: { wanted: `Go ${wanted} or newer` },
    });
  });
  const found = /^go(\d+(?:\.\d+)*)/.exec(result.stdout.trim())?.[1];
  if (result.code !== 0 || found === undefined || isOlder(found, wanted)) {
    throw new ConfigError('go-too-old', 'Go is too old; install a newer one from https://go.dev/dl, or set KUBEBUILDER_ASSETS', {
      facts: { wanted: `Go ${wanted} or newer`, found: found ?? cutText(result.stderr.trim().replaceAll('\n', ' ')) },
    });
  }
}

/** Whether dotted version `a` comes before `b`; missing parts count as 0. */
export function isOlder(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number)) as [number[], number[]];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

if (import.meta.main) void controlPlaneAssets().then((dir) => console.log(dir), exitWithOneLine);
