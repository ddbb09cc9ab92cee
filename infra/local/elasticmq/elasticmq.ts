import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findFreePorts } from '../free-ports.ts';
import { ACCOUNT_ID, AWS_REGION, createQueues, type LocalQueues, type QueueSpec } from '../local-queues.ts';
import { type ManagedProcess, startProcess } from '../managed-process.ts';
import { onParentExit } from '../parent-exit.ts';
import { retryOnTakenPort, waitUntilReady } from '../until-ready.ts';
import { elasticMqJars, findJava } from './jars.ts';

export interface ElasticMqOptions {
  readonly queues: readonly QueueSpec[];
  /** Default: a free one. */
  readonly port?: number;
  /** For its configuration and log. Default: a temporary folder. */
  readonly dir?: string;
}

export interface ElasticMq extends LocalQueues {
  readonly pid: number;
  readonly logPath: string;
  /** SIGSTOP: connections stay open and nothing is answered. */
  pause(): void;
  resume(): void;
}

const READY_SECONDS = 60;
const JAVA_FLAGS = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto'];

/**
 * Starts ElasticMQ on loopback, with the limits of SQS, and creates the queues. Everything is in memory. It ends with this
 * process at the latest.
 *
 * @throws ConfigError when Java or Maven is missing; Error when it does not get ready
 */
export async function startElasticMq(options: ElasticMqOptions): Promise<ElasticMq> {
  const java = await findJava();
  const lib = await elasticMqJars();
  const dir = options.dir === undefined ? mkdtempSync(join(tmpdir(), 'dogwatch-elasticmq-')) : resolve(options.dir);
  mkdirSync(dir, { recursive: true });
  const drop = () => {
    if (options.dir === undefined) rmSync(dir, { recursive: true, force: true });
  };
  const forget = onParentExit(drop);
  const release = () => {
    forget();
    drop();
  };
  try {
    const start = async () => startOnPort(java, lib, dir, options.port ?? (await findFreePorts(1))[0] ?? 0);
    const { server, endpoint } = await (options.port === undefined ? retryOnTakenPort(start) : start());
    const stop = async () => {
      await server.kill();
      release();
    };
    const queueUrl = await createQueues(endpoint, options.queues).catch(async (error: unknown) => {
      await server.kill();
      throw error;
    });
    const { pid, logPath, pause, resume } = server;
    return { endpoint, quirks: 'none', queueUrl, stop, pid, logPath, pause, resume };
  } catch (error) {
    release();
    throw error;
  }
}

async function startOnPort(java: string, lib: string, dir: string, port: number): Promise<{ server: ManagedProcess; endpoint: string }> {
  const config = join(dir, 'elasticmq.conf');
  const logback = join(dir, 'logback.xml');
  writeFileSync(config, configFor(port));
  writeFileSync(logback, LOGBACK);
  const settings = [`-Dconfig.file=${config}`, `-Dlogback.configurationFile=${logback}`];
  const server = await startProcess({
    name: 'ElasticMQ',
    program: java,
    args: [...JAVA_FLAGS, ...settings, '-cp', join(lib, '*'), 'org.elasticmq.server.Main'],
    logPath: join(dir, 'elasticmq.log'),
    cwd: dir,
  });
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    await waitUntilReady(() => doesAnswer(endpoint), [server], READY_SECONDS);
    return { server, endpoint };
  } catch (error) {
    await server.kill();
    throw error;
  }
}

async function doesAnswer(endpoint: string): Promise<boolean> {
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.ListQueues' },
      body: '{}',
      signal: AbortSignal.timeout(2000),
    });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false; // not listening yet
  }
}

function configFor(port: number): string {
  return `include classpath("application.conf")
node-address { protocol = http, host = "127.0.0.1", port = ${port}, context-path = "" }
generate-node-address = false
rest-sqs { enabled = true, bind-port = ${port}, bind-hostname = "127.0.0.1", sqs-limits = strict }
rest-stats { enabled = false }
aws { region = ${AWS_REGION}, accountId = ${ACCOUNT_ID} }
queues-storage { enabled = false }
messages-storage { enabled = false }
queues {}
`;
}

const LOGBACK = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d %-5level %logger{20} %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="out"/></root>
</configuration>
`;
