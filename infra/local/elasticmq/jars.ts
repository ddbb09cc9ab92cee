/** ElasticMQ and the Java that runs it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, cutText } from '../../../functions/core/errors.ts';
import { isNotFound, runCommand } from '../run-command.ts';
import { cached, hashFiles, userCacheDir } from '../user-cache.ts';

const POM = join(import.meta.dirname, 'pom.xml');
const JAVA_MIN = 17;
const MAVEN_TIMEOUT_SECONDS = 15 * 60;

/**
 * The folder of ElasticMQ's jars, fetched by Maven when they are not in the user's cache.
 *
 * @throws ConfigError when Maven is missing or fails
 */
export async function elasticMqJars(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const entry = await cached({
    parent: join(userCacheDir(env), 'elasticmq'),
    version: await hashFiles([POM]),
    contains: ['lib'],
    build: (dir) => fetchJars(join(dir, 'lib'), env),
  });
  return join(entry, 'lib');
}

async function fetchJars(lib: string, env: NodeJS.ProcessEnv): Promise<void> {
  await checkMaven(env);
  const startedAt = performance.now();
  console.error('Fetching ElasticMQ with Maven (about 43 MB the first time) ...');
  const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${lib}`, '-DincludeScope=runtime'];
  const result = await runCommand('mvn', ['-q', '-B', '-f', POM, ...goal], { env, timeoutSeconds: MAVEN_TIMEOUT_SECONDS });
  if (result.code !== 0 || !existsSync(lib)) {
    console.error(`${result.stdout}${result.stderr}`.trimEnd().split('\n').slice(-20).join('\n'));
    throw new ConfigError('maven-failed', 'Maven could not fetch ElasticMQ; its last lines are above', {
      facts: { exitCode: result.code ?? String(result.signal) },
    });
  }
  console.error(`Fetched in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}

async function checkMaven(env: NodeJS.ProcessEnv): Promise<void> {
  await runCommand('mvn', ['--version'], { env }).catch((cause: unknown) => {
    if (!isNotFound(cause)) throw cause;
    throw new ConfigError('maven-missing', 'Maven is not installed; install Maven 3.6 or newer from https://maven.apache.org', { cause });
  });
}

/**
 * The Java to run it with: that of `JAVA_HOME` where set, else the one on PATH.
 *
 * @throws ConfigError when there is none, or it is older than 17
 */
export async function findJava(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const home = env['JAVA_HOME'];
  const java = home === undefined || home === '' ? 'java' : join(home, 'bin', 'java');
  const wanted = `Java ${JAVA_MIN} or newer`;
  const result = await runCommand(java, ['-version'], { env }).catch((cause: unknown) => {
    if (!isNotFound(cause)) throw cause;
    throw new ConfigError('java-missing', 'Java is not installed; install a JDK, for example from https://adoptium.net', {
      cause,
      facts: { wanted, program: java },
    });
  });
  // It writes to standard error; up to Java 8 the version began with "1.".
  const major = /version "(?:1\.)?(\d+)/.exec(result.stderr)?.[1];
  if (result.code !== 0 || major === undefined || Number(major) < JAVA_MIN) {
    throw new ConfigError('java-too-old', 'Java is too old or does not run; install a newer JDK, for example from https://adoptium.net', {
      facts: { wanted, program: java, found: cutText(result.stderr.split('\n')[0] ?? '') },
    });
  }
  return java;
}
