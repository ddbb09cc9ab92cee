/**
 * cfn-lint and moto, installed by pip once for each user, version and Python. `node infra/local/python/tools.ts` installs what is missing and
 * prints the folder.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, cutText } from '../../../functions/core/errors.ts';
import { exitWithOneLine } from '../one-line.ts';
import { isNotFound, runCommand } from '../run-command.ts';
import { cached, userCacheDir } from '../user-cache.ts';

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const PYTHON = 'python3';
/** What cfn-lint and moto ask for. */
const PYTHON_MIN = [3, 10] as const;
const PIP_TIMEOUT_SECONDS = 15 * 60;

/** How to run it: `program args... <words>` with `env` added to the environment. */
export interface PythonTool {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * A tool, after it was installed where it is not yet (one line on standard error before and one after).
 *
 * @throws ConfigError when Python or pip is missing, too old, or cannot fetch it
 */
export async function pythonTool(name: 'cfn-lint' | 'moto_server', env: NodeJS.ProcessEnv = process.env): Promise<PythonTool> {
  const lib = await installed(env);
  return { program: PYTHON, args: [join(lib, 'bin', name)], env: { PYTHONPATH: lib, PYTHONNOUSERSITE: '1' } };
}

/** A folder for PYTHONPATH: unlike a virtual environment it may be moved, and so is built under another name first. */
async function installed(env: NodeJS.ProcessEnv): Promise<string> {
  const python = await pythonVersion(env);
  const version = createHash('sha256').update(readFileSync(REQUIREMENTS)).update(python).digest('hex').slice(0, 16);
  const entry = await cached({
    parent: join(userCacheDir(env), 'python'),
    version,
    contains: ['lib/bin/cfn-lint', 'lib/bin/moto_server'],
    build: (dir) => install(join(dir, 'lib'), env),
  });
  return join(entry, 'lib');
}

async function pythonVersion(env: NodeJS.ProcessEnv): Promise<string> {
  const wanted = `Python ${PYTHON_MIN.join('.')} or newer`;
  const script = 'import platform, sys; print(sys.version_info[0], sys.version_info[1], sys.implementation.cache_tag, platform.machine())';
  const { stdout } = await runCommand(PYTHON, ['-c', script], { env }).catch((cause: unknown) => {
    if (!isNotFound(cause)) throw cause;
    throw new ConfigError('python-missing', 'Python is not installed; install it from https://www.python.org', {
      cause,
      facts: { wanted },
    });
  });
  const [major, minor] = stdout.split(' ').map(Number);
  if (major === PYTHON_MIN[0] && minor !== undefined && minor >= PYTHON_MIN[1]) return stdout.trim();
  throw new ConfigError('python-too-old', 'Python is too old; install a newer one from https://www.python.org', {
    facts: { wanted, found: cutText(stdout.trim()) },
  });
}

async function install(lib: string, env: NodeJS.ProcessEnv): Promise<void> {
  const startedAt = performance.now();
  console.error('Installing cfn-lint and moto with pip (about 250 MB the first time) ...');
  const words = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input', '--target', lib, '-r', REQUIREMENTS];
  const result = await runCommand(PYTHON, words, { env, timeoutSeconds: PIP_TIMEOUT_SECONDS });
  if (result.code !== 0) {
    console.error(`${result.stdout}${result.stderr}`.trimEnd().split('\n').slice(-20).join('\n'));
    throw new ConfigError('pip-failed', 'pip could not install cfn-lint and moto; its last lines are above', {
      facts: { exitCode: result.code ?? String(result.signal) },
    });
  }
  console.error(`Installed in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}

if (import.meta.main) void installed(process.env).then((dir) => console.log(dir), exitWithOneLine);
