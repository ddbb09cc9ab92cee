/** moto: an AWS on this machine for what is deployed, and for what is read from AWS. In memory, and with faults: see test/real/deploy.test.ts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePorts } from './free-ports.ts';
import { AWS_REGION } from './local-queues.ts';
import { plainEnv, startProcess } from './managed-process.ts';
import { onParentExit } from './parent-exit.ts';
import { pythonTool } from './python/tools.ts';
import { retryOnTakenPort, waitUntilReady } from './until-ready.ts';

const READY_SECONDS = 60;

export interface Moto {
  readonly endpoint: string;
  /** For every AWS tool: the endpoint, a region, and credentials, which are dummies. */
  readonly env: Readonly<Record<string, string>>;
  /** The last lines of its log, for messages. */
  lastLines(count?: number): string;
  /** Ends it, and with it everything in it. */
  stop(): Promise<void>;
}

/**
 * Starts moto on loopback. Functions in it are never run, but a queue that is mapped to one loses its messages.
 *
 * @throws ConfigError when Python or pip is missing; Error when it does not get ready
 */
export async function startMoto(): Promise<Moto> {
  const { program, args, env } = await pythonTool('moto_server');
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-moto-'));
  const drop = () => rmSync(dir, { recursive: true, force: true });
  const forget = onParentExit(drop);
  const start = async () => {
    const port = (await findFreePorts(1))[0] ?? 0;
    const endpoint = `http://127.0.0.1:${port}`;
    const server = await startProcess({
      name: 'moto',
      program,
      args: [...args, '-H', '127.0.0.1', '-p', String(port)],
      logPath: join(dir, 'moto.log'),
      cwd: dir,
      env: { ...plainEnv(), ...env },
    });
    // Before anything is deployed: its functions are of another kind afterwards. Without it, it looks for Docker.
    const isReady = () => configure(endpoint, { lambda: { use_docker: false } });
    await waitUntilReady(isReady, [server], READY_SECONDS).catch(async (error: unknown) => {
      await server.kill();
      throw error;
    });
    return { server, endpoint };
  };
  try {
    const { server, endpoint } = await retryOnTakenPort(start);
    const stop = async () => {
      await server.kill();
      forget();
      drop();
    };
    const credentials = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' };
    return { endpoint, env: { AWS_ENDPOINT_URL: endpoint, AWS_REGION, ...credentials }, lastLines: server.lastLines, stop };
  } catch (error) {
    forget();
    drop();
    throw error;
  }
}

async function configure(endpoint: string, settings: unknown): Promise<boolean> {
  try {
    return (await fetch(`${endpoint}/moto-api/config`, { method: 'POST', body: JSON.stringify(settings) })).ok;
  } catch {
    return false;
  }
}
