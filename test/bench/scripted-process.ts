/** The scripted API server in its own process, as whoever measures sees it. */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { Command, Ready, Report } from './scripted-server.ts';

export interface ScriptedProcess {
  readonly kubeconfigPath: string;
  /** A cluster registry that holds this server as `east`. */
  readonly registryPath: string;
  /** Resolves when the command was carried out. */
  ask(command: Command): Promise<Report>;
  stop(): void;
}

/** A kubeconfig for a server that takes every token. */
export function kubeconfigText(server: string, ca: string): string {
  return dump({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'scripted',
    clusters: [{ name: 'scripted', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name: 'bench', user: { token: 'bench' } }],
    contexts: [{ name: 'scripted', context: { cluster: 'scripted', user: 'bench' } }],
  });
}

/**
 * Starts a server with so many Tenants, all settled, each with one child of every kind that it owns if `children` says so. It
 * ends with this process at the latest.
 */
export async function startScriptedServer(count: number, { children = false } = {}): Promise<ScriptedProcess> {
  const child = fork(join(import.meta.dirname, 'scripted-server.ts'), [String(count), ...(children ? ['children'] : [])]);
  const pending = new Map<number, (report: Report) => void>();
  const ended = new Promise<never>((_, reject) => child.once('exit', (code) => reject(new Error(`the scripted server ended: ${code}`))));
  ended.catch(() => undefined);
  const ready = new Promise<Ready>((resolve) => child.once('message', (message) => resolve(message as Ready)));
  const { url, ca } = await Promise.race([ready, ended]);
  child.on('message', (message) => {
    const report = message as Report;
    pending.get(report.id)?.(report);
    pending.delete(report.id);
  });
  const dir = mkdtempSync(join(tmpdir(), 'dogwatch-bench-'));
  const kubeconfigPath = join(dir, 'kubeconfig.yaml');
  writeFileSync(kubeconfigPath, kubeconfigText(url, ca));
  const registryPath = join(dir, 'clusters.yml');
  writeFileSync(registryPath, dump({ clusters: [{ name: 'east', kubeconfig: './kubeconfig.yaml' }] }));
  let lastId = 0;
  return {
    kubeconfigPath,
    registryPath,
    ask(command) {
      lastId += 1;
      const id = lastId;
      const answered = new Promise<Report>((resolve) => pending.set(id, resolve));
      child.send({ id, ...command });
      return Promise.race([answered, ended]);
    },
    stop() {
      child.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
